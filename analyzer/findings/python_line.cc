#include "analyzer/findings/python_line.h"

#include <algorithm>
#include <array>
#include <utility>

#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

// 'train.py(88): step', not '<built-in function len>' or 'nn.Module: Linear_0'.
bool IsLine(std::string_view call) {
  return call.find(".py(") != std::string_view::npos && !call.starts_with('<');
}

bool IsOfUser(std::string_view call) {
  constexpr std::array<std::string_view, 4> kNotTheirs = {"site-packages/", "dist-packages/",
                                                          "/lib/python3", "<frozen"};
  if (call.starts_with("torch/")) return false;
  return std::none_of(kNotTheirs.begin(), kNotTheirs.end(), [&](std::string_view part) {
    return call.find(part) != std::string_view::npos;
  });
}

}  // namespace

std::string LineOfUser(const std::vector<std::string>& open_calls) {
  std::string any;
  for (auto call = open_calls.rbegin(); call != open_calls.rend(); ++call) {
    if (!IsLine(*call)) continue;
    if (IsOfUser(*call)) return *call;
    if (any.empty()) any = *call;
  }
  return any;
}

LineTime LongestLineOfUser(const std::vector<PythonCall>& calls, Interval range) {
  std::map<std::pair<int64_t, std::string>, int64_t> total_ns;
  std::vector<const PythonCall*> open;  // of one thread, of the user's
  int64_t now_ns = range.begin_ns;
  const auto advance = [&](int64_t until_ns) {
    until_ns = std::clamp(until_ns, now_ns, range.end_ns);
    while (!open.empty() && now_ns < until_ns) {
      const PythonCall& call = *open.back();
      const int64_t end_ns = std::min(call.time.end_ns, until_ns);
      if (end_ns > now_ns) total_ns[{call.tid, call.text}] += end_ns - now_ns;
      now_ns = std::max(now_ns, end_ns);
      if (call.time.end_ns <= until_ns) open.pop_back();
    }
    now_ns = until_ns;
  };
  int64_t tid = -1;
  for (const PythonCall& call : calls) {
    if (call.tid != tid) {
      advance(range.end_ns);
      open.clear();
      now_ns = range.begin_ns;
      tid = call.tid;
    }
    advance(call.time.begin_ns);
    if (IsLine(call.text) && IsOfUser(call.text)) open.push_back(&call);
  }
  advance(range.end_ns);
  LineTime longest;
  for (const auto& [key, ns] : total_ns) {
    if (ns > longest.ns) longest = {key.second, ns};
  }
  return longest;
}

schema::Database* PythonLines::Trace(const schema::RankRow& rank) {
  const auto [known, is_new] = traces_.try_emplace(rank.rank);
  if (is_new) {
    const TraceFile& file = context_.files().traces[static_cast<size_t>(rank.input_file_id)];
    auto trace = schema::OpenRankFile(file.path, {.quick_check = false});
    if (!trace.ok()) return nullptr;
    const auto has_calls = trace->QueryOne<int64_t>("SELECT EXISTS (SELECT 1 FROM python_call)");
    if (has_calls.ok() && *has_calls != 0) known->second = std::move(*trace);
  }
  return known->second ? &*known->second : nullptr;
}

std::string PythonLines::OfApiCall(const schema::RankRow& rank, int64_t api_call_id) {
  schema::Database* const trace = Trace(rank);
  return trace == nullptr
             ? ""
             : LineAt(*trace, "SELECT tid, begin_ns AS time_ns FROM api_call WHERE id = ?1",
                      {api_call_id, api_call_id});
}

std::string PythonLines::OfCollective(const schema::RankRow& rank, Interval range) {
  return OfFirstIn(rank, range,
                   "SELECT coalesce(enqueue_tid, tid) AS tid,"
                   " coalesce(enqueue_ns, begin_ns) AS time_ns FROM collective_source"
                   " WHERE begin_ns >= ?1 AND begin_ns < ?2 ORDER BY end_ns - begin_ns DESC");
}

std::string PythonLines::OfInputWait(const schema::RankRow& rank, Interval range) {
  return OfFirstIn(rank, range,
                   "SELECT tid, begin_ns AS time_ns FROM data_wait"
                   " WHERE begin_ns >= ?1 AND begin_ns < ?2 ORDER BY end_ns - begin_ns DESC");
}

std::string PythonLines::OfFirstIn(const schema::RankRow& rank, Interval range,
                                   std::string_view thread_and_time) {
  schema::Database* const trace = Trace(rank);
  const int64_t offset_ns = rank.clock_offset_ns;
  return trace == nullptr ? ""
                          : LineAt(*trace, thread_and_time,
                                   {range.begin_ns - offset_ns, range.end_ns - offset_ns});
}

// `thread_and_time` selects the moment asked about, ?1 and ?2 being the range.
std::string PythonLines::LineAt(schema::Database& trace, std::string_view thread_and_time,
                                Interval range) {
  auto rows = trace.Prepare("SELECT s.text FROM (" + std::string(thread_and_time) +
                            " LIMIT 1) AS a JOIN python_call AS p ON p.tid = a.tid"
                            " AND p.begin_ns <= a.time_ns AND coalesce(p.end_ns > a.time_ns, 1)"
                            " JOIN string AS s ON s.id = p.name_id WHERE ?2 >= ?1"
                            " ORDER BY p.depth, p.id LIMIT 1000");
  if (!rows.ok() || !rows->BindAll(range.begin_ns, range.end_ns).ok()) return "";
  std::vector<std::string> open_calls;
  for (auto found = rows->Step(); found.ok() && *found; found = rows->Step()) {
    const auto text = rows->Get<std::string>(0);
    if (text.ok()) open_calls.push_back(*text);
  }
  return LineOfUser(open_calls);
}

LineTime PythonLines::OfMostTime(const schema::RankRow& rank, Interval range) {
  schema::Database* const trace = Trace(rank);
  if (trace == nullptr) return {};
  auto rows = trace->Prepare(
      "SELECT p.tid, s.text, p.begin_ns, coalesce(p.end_ns, ?2) FROM python_call AS p"
      " JOIN string AS s ON s.id = p.name_id WHERE p.begin_ns < ?2"
      " AND coalesce(p.end_ns > ?1, 1) ORDER BY p.tid, p.begin_ns, p.depth LIMIT 200000");
  const int64_t offset_ns = rank.clock_offset_ns;
  if (!rows.ok() || !rows->BindAll(range.begin_ns - offset_ns, range.end_ns - offset_ns).ok()) {
    return {};
  }
  std::vector<PythonCall> calls;
  for (auto found = rows->Step(); found.ok() && *found; found = rows->Step()) {
    const auto tid = rows->Get<int64_t>(0);
    auto text = rows->Get<std::string>(1);
    const auto begin_ns = rows->Get<int64_t>(2);
    const auto end_ns = rows->Get<int64_t>(3);
    if (!tid.ok() || !text.ok() || !begin_ns.ok() || !end_ns.ok()) continue;
    calls.push_back({*tid, std::move(*text), {*begin_ns + offset_ns, *end_ns + offset_ns}});
  }
  return LongestLineOfUser(calls, range);
}

}  // namespace tutti::analyzer
