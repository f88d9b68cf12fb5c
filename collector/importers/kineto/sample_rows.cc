#include "collector/importers/kineto/sample_rows.h"

#include <utility>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {
namespace {

constexpr std::string_view kMemory = "\"[memory]\"";
constexpr std::string_view kOutOfMemory = "\"[OutOfMemory]\"";

// c10::DeviceType (c10/core/DeviceType.h), in the order of its values.
constexpr std::string_view kDeviceTypes[] = {
    "cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
    "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
    "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};

std::optional<int64_t> IntegerOf(const RawEvent& event, Arg arg) {
  return event.Has(arg) ? ParseInteger(event.Get(arg)) : std::nullopt;
}

std::string DeviceType(std::optional<int64_t> type) {
  if (!type || *type < 0) return "unknown";
  if (*type >= static_cast<int64_t>(std::size(kDeviceTypes))) return std::to_string(*type);
  return std::string(kDeviceTypes[static_cast<size_t>(*type)]);
}

}  // namespace

bool SampleRows::IsMemory(std::string_view name_token) {
  return name_token == kMemory || name_token == kOutOfMemory;
}

void SampleRows::OnMemory(const RawEvent& event) {
  const std::optional<int64_t> time_ns = context_.TimeOf(event);
  if (!time_ns) return;
  Track& track = context_.tracks.Of(event.pid, event.tid);
  const std::optional<int64_t> device = IntegerOf(event, Arg::kDeviceId);
  schema::MemoryEventRow row;
  row.tid = context_.tracks.RowTid(track);
  row.time_ns = *time_ns;
  row.device_type = DeviceType(IntegerOf(event, Arg::kDeviceType));
  if (row.device_type != "cpu" && device && *device >= 0) row.device_id = device;
  row.address = ParseBits(event.Get(Arg::kAddress)).value_or(0);
  row.delta_bytes = IntegerOf(event, Arg::kMemoryBytes);
  row.allocated_bytes = IntegerOf(event, Arg::kTotalAllocated);
  row.reserved_bytes = IntegerOf(event, Arg::kTotalReserved);
  row.is_oom = event.name == kOutOfMemory ? 1 : 0;
  track.Saw(*time_ns, *time_ns);
  context_.sink.Add(std::move(row));
  ++context_.events_read;
}

// Id of a series' counter; < 0: too many.
int64_t SampleRows::CounterOf(const RawEvent& event, std::string_view series, bool is_only) {
  std::string name = DecodeString(event.name);
  // A counter with one series has the name of the event, whatever the series is called.
  if (!is_only) name += "." + std::string(series);
  if (const std::string_view id = WithoutQuotes(event.id); !id.empty())
    name += " " + DecodeString(event.id);
  const auto found = counters_.find(name);
  if (found != counters_.end()) return found->second;
  if (counters_.size() >= kMostCounters) return -1;
  schema::CounterRow row;
  row.name = name;
  row.unit = "unknown";
  row.kind = "gauge";
  row.description = "counter of the imported trace, series " + std::string(series);
  const int64_t id = context_.sink.Add(std::move(row));
  counters_.emplace(std::move(name), id);
  return id;
}

void SampleRows::OnCounter(const RawEvent& event) {
  const std::optional<int64_t> time_ns = context_.TimeOf(event);
  if (!time_ns) return;
  // Series have any names, also those that arguments of other events have.
  size_t series = 0;
  event.ForEachArg([&series](std::string_view, std::string_view) { ++series; });
  bool kept = false;
  event.ForEachArg([&](std::string_view name, std::string_view token) {
    const std::optional<Number> number = ParseNumber(token);
    if (!number) return;
    const int64_t counter = CounterOf(event, name, series == 1);
    if (counter < 0) return;
    schema::CounterSampleRow row;
    row.counter_id = counter;
    row.time_ns = *time_ns;
    if (number->is_integer) {
      row.value = number->integer;
    } else {
      row.value = number->real;
    }
    context_.sink.Append(std::move(row));
    kept = true;
  });
  if (kept) {
    ++context_.events_read;
  } else {
    context_.Skip(odd::kUnknownPhase, event, "counter without a number");
  }
}

}  // namespace tutti::collector::importers::kineto
