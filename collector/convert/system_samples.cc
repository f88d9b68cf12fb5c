#include "collector/convert/system_samples.h"

#include <array>
#include <iterator>

namespace tutti::collector::convert {
namespace {

using spool::SystemSample;

struct CounterKind {
  const char* name;
  const char* unit;
  const char* kind;
  const char* description;
  int64_t SystemSample::*value;
};

constexpr CounterKind kCounters[] = {
    {"process.cpu_user", "ns", "cumulative", "CPU time of the process in user mode",
     &SystemSample::cpu_user_ns},
    {"process.cpu_system", "ns", "cumulative", "CPU time of the process in the kernel",
     &SystemSample::cpu_system_ns},
    {"process.resident", "bytes", "gauge", "resident memory of the process",
     &SystemSample::resident_bytes},
    {"process.minor_faults", "count", "cumulative",
     "page faults of the process that needed no input", &SystemSample::minor_faults},
    {"process.major_faults", "count", "cumulative",
     "page faults of the process that waited for the disk", &SystemSample::major_faults},
    {"process.voluntary_switches", "count", "cumulative",
     "times that threads of the process gave up their CPU to wait",
     &SystemSample::voluntary_switches},
    {"process.involuntary_switches", "count", "cumulative",
     "times that threads of the process lost their CPU to others",
     &SystemSample::involuntary_switches},
    {"process.main_run_delay", "ns", "cumulative",
     "time that the first thread of the process was ready to run and waited for a CPU",
     &SystemSample::main_run_delay_ns},
    {"process.disk_read", "bytes", "cumulative", "bytes that the process read from storage",
     &SystemSample::disk_read_bytes},
    {"process.disk_write", "bytes", "cumulative", "bytes that the process sent to storage",
     &SystemSample::disk_write_bytes},
    {"process.threads", "count", "gauge", "threads of the process", &SystemSample::threads},
    {"node.network_receive", "bytes", "cumulative",
     "bytes received by all interfaces but loopback, all processes of the network namespace",
     &SystemSample::network_receive_bytes},
    {"node.network_transmit", "bytes", "cumulative",
     "bytes sent by all interfaces but loopback, all processes of the network namespace",
     &SystemSample::network_transmit_bytes},
    {"node.loopback", "bytes", "cumulative",
     "bytes over the loopback interface, all processes of the network namespace",
     &SystemSample::loopback_bytes},
};

}  // namespace

void SystemSamples::WriteCounters() {
  first_counter_ = context_.next_id.counter;
  for (const CounterKind& counter : kCounters) {
    context_.rows.Append(schema::CounterRow{context_.next_id.counter++, counter.name, counter.unit,
                                            counter.kind, counter.description, std::nullopt});
  }
}

void SystemSamples::OnSample(const SystemSample& sample) {
  if (sample.cpu_user_ns >= 0) cpu_user_ns_ = sample.cpu_user_ns;
  if (sample.cpu_system_ns >= 0) cpu_system_ns_ = sample.cpu_system_ns;
  const int64_t time_ns = anchor_.ToTraceNs(sample.monotonic_raw_ns);
  if (!context_.Wanted(time_ns, time_ns)) return;
  if (first_counter_ < 0) WriteCounters();
  for (size_t counter = 0; counter < std::size(kCounters); ++counter) {
    const int64_t value = sample.*kCounters[counter].value;
    if (value < 0) continue;
    context_.rows.Append(
        schema::CounterSampleRow{first_counter_ + static_cast<int64_t>(counter), time_ns, value});
  }
}

}  // namespace tutti::collector::convert
