#include "analyzer/findings/throttle.h"

#include <array>

#include "analyzer/findings/rule.h"
#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

struct Reason {
  int64_t bits;  // nvmlClocksEventReasons
  const char* text;
};
constexpr std::array<Reason, 5> kReasons = {{{0x20 | 0x40, "heat"},
                                             {0x04, "power cap"},
                                             {0x08, "hardware slowdown"},
                                             {0x80, "power brake"},
                                             {0x10, "sync boost"}}};
constexpr double kLeastShare = 0.05;

}  // namespace

std::string ThrottleText(const std::vector<std::pair<int64_t, int64_t>>& reasons) {
  int64_t samples = 0;
  int64_t lowered = 0;
  std::array<int64_t, kReasons.size()> of_reason{};
  for (const auto& [bits, count] : reasons) {
    samples += count;
    bool is_lowered = false;
    for (size_t at = 0; at < kReasons.size(); ++at) {
      if ((bits & kReasons[at].bits) == 0) continue;
      of_reason[at] += count;
      is_lowered = true;
    }
    if (is_lowered) lowered += count;
  }
  const auto share = [samples](int64_t count) {
    return samples == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(samples);
  };
  if (share(lowered) < kLeastShare) return "";
  std::string list;
  for (size_t at = 0; at < kReasons.size(); ++at) {
    if (share(of_reason[at]) < kLeastShare) continue;
    list += (list.empty() ? " (" : ", ") + std::string(kReasons[at].text) + " " +
            Percent(share(of_reason[at]));
  }
  return "its clocks were lowered in " + Percent(share(lowered)) + " of the samples" +
         (list.empty() ? "" : list + ")");
}

std::string ThrottleOf(const RunContext& context, int64_t rank) {
  std::vector<std::pair<int64_t, int64_t>> reasons;
  for (const TraceFile& file : context.files().traces) {
    if (file.rank != rank) continue;
    auto trace = schema::OpenRankFile(file.path, {.quick_check = false});
    if (!trace.ok()) continue;
    auto rows = trace->Prepare(
        "SELECT CAST(value AS INTEGER), count(*) FROM counter_sample WHERE counter_id IN"
        " (SELECT id FROM counter WHERE name = 'gpu.throttle_reasons') GROUP BY 1 LIMIT 1000");
    if (!rows.ok()) continue;
    for (auto row = rows->Step(); row.ok() && *row; row = rows->Step()) {
      const auto bits = rows->Get<int64_t>(0);
      const auto count = rows->Get<int64_t>(1);
      if (bits.ok() && count.ok()) reasons.emplace_back(*bits, *count);
    }
  }
  return ThrottleText(reasons);
}

}  // namespace tutti::analyzer
