#include "collector/counters/process_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "collector/clock/clock_reading.h"
#include "collector/os/files.h"
#include "collector/os/proc.h"

namespace tutti::collector::counters {
namespace {

constexpr int64_t kSwitchesIntervalNs = 1'000'000'000;

std::string PathOf(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

int64_t ToNs(uint64_t clock_ticks, int64_t per_second) {
  return static_cast<int64_t>(clock_ticks) * (1'000'000'000 / per_second);
}

std::string_view NextField(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view field = line.substr(0, line.find(' '));
  line.remove_prefix(field.size());
  return field;
}

int64_t NumberIn(std::string_view field) {
  int64_t number = 0;
  std::from_chars(field.data(), field.data() + field.size(), number);
  return number;
}

int64_t ValueOr(const std::optional<uint64_t>& value, int64_t otherwise) {
  return value ? static_cast<int64_t>(*value) : otherwise;
}

}  // namespace

NetworkBytes ParseNetDev(std::string_view text) {
  NetworkBytes bytes;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;  // the two lines of headings
    std::string_view name = line.substr(0, colon);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    line.remove_prefix(colon + 1);
    const int64_t receive = NumberIn(NextField(line));
    for (int skipped = 0; skipped < 7; ++skipped) NextField(line);
    const int64_t transmit = NumberIn(NextField(line));
    if (name == "lo") {
      bytes.loopback += transmit;
      continue;
    }
    bytes.receive += receive;
    bytes.transmit += transmit;
  }
  return bytes;
}

std::optional<spool::SystemSample> ProcessSampler::Read() {
  const auto stat = os::ReadProcessStat(pid_);
  if (!stat) return std::nullopt;
  spool::SystemSample sample{};
  sample.monotonic_raw_ns = clock::MonotonicRawNs();
  sample.cpu_user_ns = ToNs(stat->user_ticks, clock_ticks_per_second_);
  sample.cpu_system_ns = ToNs(stat->system_ticks, clock_ticks_per_second_);
  const bool is_zombie = stat->state == 'Z';
  sample.resident_bytes =
      is_zombie ? -1 : static_cast<int64_t>(stat->resident_pages) * ::sysconf(_SC_PAGESIZE);
  sample.minor_faults = static_cast<int64_t>(stat->minor_faults);
  sample.major_faults = static_cast<int64_t>(stat->major_faults);
  AddInput(sample);
  AddRunDelay(sample);
  AddNetwork(sample);
  AddSwitches(sample);
  return sample;
}

void ProcessSampler::AddInput(spool::SystemSample& sample) const {
  const auto text = os::ReadSmallFile(PathOf(pid_, "io"));
  sample.disk_read_bytes = -1;
  sample.disk_write_bytes = -1;
  if (!text.ok()) return;
  sample.disk_read_bytes = ValueOr(os::NumberAfter(*text, "read_bytes"), -1);
  sample.disk_write_bytes = ValueOr(os::NumberAfter(*text, "write_bytes"), -1);
}

// /proc/PID/schedstat is of the first thread: time on a CPU, time in a run queue, turns. Kernels
// without CONFIG_SCHED_INFO have no such file.
void ProcessSampler::AddRunDelay(spool::SystemSample& sample) const {
  sample.main_run_delay_ns = -1;
  const auto text = os::ReadSmallFile(PathOf(pid_, "schedstat"));
  if (!text.ok()) return;
  std::string_view fields = *text;
  NextField(fields);
  const std::string_view delay = NextField(fields);
  if (!delay.empty()) sample.main_run_delay_ns = NumberIn(delay);
}

void ProcessSampler::AddNetwork(spool::SystemSample& sample) const {
  const auto text = os::ReadSmallFile(PathOf(pid_, "net/dev"));
  const bool known = text.ok() && !text->empty();
  const NetworkBytes bytes = known ? ParseNetDev(*text) : NetworkBytes{-1, -1, -1};
  sample.network_receive_bytes = bytes.receive;
  sample.network_transmit_bytes = bytes.transmit;
  sample.loopback_bytes = bytes.loopback;
}

void ProcessSampler::AddSwitches(spool::SystemSample& sample) {
  if (switches_read_ns_ == 0 ||
      sample.monotonic_raw_ns - switches_read_ns_ >= kSwitchesIntervalNs) {
    ReadSwitches();
    switches_read_ns_ = sample.monotonic_raw_ns;
    Switches sum = of_ended_;
    for (const auto& [tid, switches] : of_thread_) {
      sum.voluntary += switches.voluntary;
      sum.involuntary += switches.involuntary;
    }
    sample.voluntary_switches = sum.voluntary;
    sample.involuntary_switches = sum.involuntary;
    sample.threads = static_cast<int64_t>(of_thread_.size());
    return;
  }
  sample.voluntary_switches = -1;
  sample.involuntary_switches = -1;
  sample.threads = -1;
}

void ProcessSampler::ReadSwitches() {
  std::map<pid_t, Switches> now;
  for (const pid_t tid : os::ListThreads(pid_)) {
    const auto text = os::ReadSmallFile(PathOf(pid_, "task/") + std::to_string(tid) + "/status");
    if (!text.ok()) continue;
    now[tid] = {ValueOr(os::NumberAfter(*text, "voluntary_ctxt_switches"), 0),
                ValueOr(os::NumberAfter(*text, "nonvoluntary_ctxt_switches"), 0)};
  }
  for (const auto& [tid, last] : of_thread_) {
    const auto current = now.find(tid);
    // Gone, or its id belongs to a new thread that has just begun to count.
    const bool ended = current == now.end() || current->second.voluntary < last.voluntary ||
                       current->second.involuntary < last.involuntary;
    if (!ended) continue;
    of_ended_.voluntary += last.voluntary;
    of_ended_.involuntary += last.involuntary;
  }
  of_thread_ = std::move(now);
}

}  // namespace tutti::collector::counters
