// Gives each event of a trace to the part that makes rows of its kind. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/importers/kineto/category.h"
#include "collector/importers/kineto/collective_rows.h"
#include "collector/importers/kineto/context.h"
#include "collector/importers/kineto/device_rows.h"
#include "collector/importers/kineto/flow_rows.h"
#include "collector/importers/kineto/host_rows.h"
#include "collector/importers/kineto/sample_rows.h"
#include "collector/importers/kineto/span_pairs.h"
#include "collector/importers/kineto/trace_keys.h"
#include "collector/importers/kineto/trace_reader.h"

namespace tutti::collector::importers::kineto {

class EventRows final : public TraceHandler {
 public:
  // All times are `base_ns` + those of the events.
  EventRows(TraceSink& sink, int64_t base_ns);

  void OnEvent(const RawEvent& event) override;
  void OnKey(std::string_view key, std::string_view value, int64_t offset) override;
  void OnProblem(Problem problem, int64_t count, int64_t offset) override;

  // Writes what needs all events, and who the trace is of. Not ok: it is no trace of a
  // training job, or writing failed.
  Status Finish();

  Context& context() { return context_; }
  const TraceKeys& keys() const { return keys_; }

 private:
  struct Category {
    Kind kind = Kind::kOther;
    int64_t domain_id = 0;  // its text
    int64_t kept_as_ranges = 0;
    int64_t first_offset = 0;
  };
  struct UnknownArg {
    int64_t count = 0;
    int64_t offset = 0;
    std::string first_value;
  };
  static constexpr size_t kMostCategories = 10'000;
  static constexpr size_t kMostArgs = 400;

  Category& CategoryOf(std::string_view token);
  void OnComplete(const RawEvent& event);
  void OnHostKind(const RawEvent& event, Kind kind);
  void OnUncategorised(const RawEvent& event, Category& category);
  void OnRange(const RawEvent& event, Category& category);
  void OnInstant(const RawEvent& event);
  void OnMetadata(const RawEvent& event);
  int64_t DomainOf(const RawEvent& event, Category& category);
  void CountArgs(const RawEvent& event);
  void CountLeftovers();
  void TellIdentity();
  Status RunPasses();

  Context context_;
  HostRows host_;
  DeviceRows devices_;
  CollectiveRows collectives_;
  SampleRows samples_;
  FlowRows flows_;
  SpanPairs pairs_;
  TraceKeys keys_;
  std::map<std::string, Category, std::less<>> categories_;
  // The last of each length: a trace has few categories, and they take turns.
  std::array<std::pair<const std::string, Category>*, 32> last_categories_{};
  std::array<int64_t, kArgCount> unstored_{};  // arguments that no table holds
  std::array<int64_t, kArgCount> unstored_offsets_{};
  std::map<std::string, UnknownArg, std::less<>> unknown_args_;
  int64_t browser_events_ = 0;
};

}  // namespace tutti::collector::importers::kineto
