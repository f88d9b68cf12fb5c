#include "analyzer/findings/python_line.h"

#include <algorithm>
#include <array>

#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

constexpr std::string_view kOpenCalls =
    "SELECT s.text FROM api_call AS a JOIN python_call AS p ON p.tid = a.tid"
    " AND p.begin_ns <= a.begin_ns AND (p.end_ns IS NULL OR p.end_ns > a.begin_ns)"
    " JOIN string AS s ON s.id = p.name_id WHERE a.id = ?1 ORDER BY p.depth, p.id LIMIT 1000";

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

std::string PythonLineOf(const RunContext& context, const schema::RankRow& rank,
                         int64_t api_call_id) {
  const TraceFile& file = context.files().traces[static_cast<size_t>(rank.input_file_id)];
  auto trace = schema::OpenRankFile(file.path, {.quick_check = false});
  if (!trace.ok()) return "";
  auto rows = trace->Prepare(kOpenCalls);
  if (!rows.ok() || !rows->BindAll(api_call_id).ok()) return "";
  std::vector<std::string> open_calls;
  for (auto found = rows->Step(); found.ok() && *found; found = rows->Step()) {
    const auto text = rows->Get<std::string>(0);
    if (text.ok()) open_calls.push_back(*text);
  }
  return LineOfUser(open_calls);
}

}  // namespace tutti::analyzer
