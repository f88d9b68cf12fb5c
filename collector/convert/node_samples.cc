#include "collector/convert/node_samples.h"

#include <array>
#include <cstring>
#include <span>

#include "common/text.h"

namespace tutti::collector::convert {
namespace {

using spool::GpuValue;
using spool::NodeSample;
using spool::NodeSource;
using spool::PortValue;

struct CounterKind {
  size_t value;
  const char* name;
  const char* unit;
  const char* kind;
  const char* description;
};

constexpr size_t At(GpuValue value) { return static_cast<size_t>(value); }
constexpr size_t At(PortValue value) { return static_cast<size_t>(value); }

constexpr CounterKind kGpuCounters[] = {
    {At(GpuValue::kUtilization), "gpu.utilization", "percent", "gauge",
     "time in which a kernel ran on the GPU, of any process, over the driver's last sample period"},
    {At(GpuValue::kMemoryUtilization), "gpu.memory_utilization", "percent", "gauge",
     "time in which the GPU's memory was read or written, over the same period"},
    {At(GpuValue::kMemoryUsed), "gpu.memory_used", "bytes", "gauge",
     "memory of the GPU in use by all processes and the driver"},
    {At(GpuValue::kSmClock), "gpu.sm_clock", "Hz", "gauge", "clock of the multiprocessors"},
    {At(GpuValue::kMemoryClock), "gpu.memory_clock", "Hz", "gauge", "clock of the memory"},
    {At(GpuValue::kThrottleReasons), "gpu.throttle_reasons", "bits", "gauge",
     "why the clocks are not higher: 1 idle, 2 clocks set by the user, 4 power cap, 8 hardware "
     "slowdown, 16 sync boost, 32 thermal (software), 64 thermal (hardware), 128 power brake, 256 "
     "display"},
    {At(GpuValue::kTemperature), "gpu.temperature", "celsius", "gauge", "temperature of the GPU"},
    {At(GpuValue::kPower), "gpu.power", "mW", "gauge", "power that the board draws"},
    {At(GpuValue::kEnergy), "gpu.energy", "mJ", "cumulative",
     "energy that the board has used since the driver was loaded"},
    {At(GpuValue::kPcieTransmit), "gpu.pcie_transmit", "bytes", "cumulative",
     "bytes that the GPU sent over PCIe"},
    {At(GpuValue::kPcieReceive), "gpu.pcie_receive", "bytes", "cumulative",
     "bytes that the GPU received over PCIe"},
    {At(GpuValue::kNvlinkTransmit), "gpu.nvlink_transmit", "bytes", "cumulative",
     "data that the GPU sent over all its NVLinks"},
    {At(GpuValue::kNvlinkReceive), "gpu.nvlink_receive", "bytes", "cumulative",
     "data that the GPU received over all its NVLinks"},
    {At(GpuValue::kEccCorrected), "gpu.ecc_corrected", "count", "cumulative",
     "memory errors that were corrected since the driver was loaded"},
    {At(GpuValue::kEccUncorrected), "gpu.ecc_uncorrected", "count", "cumulative",
     "memory errors that were not"},
};

constexpr CounterKind kPortCounters[] = {
    {At(PortValue::kTransmit), "transmit", "bytes", "cumulative", "bytes that the port sent"},
    {At(PortValue::kReceive), "receive", "bytes", "cumulative", "bytes that the port received"},
    {At(PortValue::kTransmitWait), "transmit_wait", "ticks", "cumulative",
     "ticks of the port's clock in which it had data to send and could not"},
    {At(PortValue::kTransmitDiscards), "transmit_discards", "count", "cumulative",
     "packets that the port threw away instead of sending them"},
    {At(PortValue::kReceiveErrors), "receive_errors", "count", "cumulative",
     "broken packets that the port received"},
    {At(PortValue::kSymbolErrors), "symbol_errors", "count", "cumulative",
     "bit errors on the port's lanes"},
    {At(PortValue::kLinkDowned), "link_downed", "count", "cumulative",
     "times that the link went down and did not come back by itself"},
};

std::span<const CounterKind> CountersOf(NodeSource kind) {
  if (kind == NodeSource::kGpu) return kGpuCounters;
  return kPortCounters;
}

}  // namespace

void NodeSamples::WriteCounters(const std::string& name, Source& source) {
  source.first_counter = context_.next_id.counter;
  for (const CounterKind& counter : CountersOf(source.kind)) {
    // A port's counters are known by its name, a GPU's by its id.
    const std::string full_name =
        source.kind == NodeSource::kGpu ? counter.name : "node.ib." + name + "." + counter.name;
    context_.rows.Append(schema::CounterRow{context_.next_id.counter++, full_name, counter.unit,
                                            counter.kind, counter.description, source.device});
  }
}

void NodeSamples::Write(const std::string& name, Source& source, const NodeSample& sample) {
  const int64_t time_ns = anchor_.ToTraceNs(sample.monotonic_raw_ns);
  if (!context_.Wanted(time_ns, time_ns)) return;
  if (source.first_counter < 0) WriteCounters(name, source);
  int64_t counter = source.first_counter;
  for (const CounterKind& kind : CountersOf(source.kind)) {
    const int64_t value = sample.values[kind.value];
    if (value >= 0) context_.rows.Append(schema::CounterSampleRow{counter, time_ns, value});
    ++counter;
  }
}

bool NodeSamples::IsUsed(const std::string& name, Source& source) {
  if (source.kind != NodeSource::kGpu || source.device) return true;
  source.device = device_of_(name);
  return source.device.has_value();
}

void NodeSamples::OnSample(const NodeSample& sample) {
  constexpr size_t kMostSources = 1'024;
  if (sample.source != NodeSource::kGpu && sample.source != NodeSource::kInfinibandPort) return;
  const std::string name =
      ToStorableText(std::string_view(sample.name, ::strnlen(sample.name, sizeof(sample.name))));
  if (sources_.size() >= kMostSources && !sources_.contains(name)) return;
  Source& source = sources_[name];
  source.kind = sample.source;
  if (!IsUsed(name, source)) {
    if (source.waiting.size() < kMostWaiting) source.waiting.push_back(sample);
    return;
  }
  for (const NodeSample& earlier : std::exchange(source.waiting, {})) Write(name, source, earlier);
  Write(name, source, sample);
}

void NodeSamples::Finish() {
  for (auto& [name, source] : sources_) {
    if (source.waiting.empty() || !IsUsed(name, source)) continue;
    for (const NodeSample& sample : source.waiting) Write(name, source, sample);
  }
  sources_.clear();
}

}  // namespace tutti::collector::convert
