#include "collector/counters/infiniband.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "collector/clock/clock_reading.h"
#include "collector/os/files.h"

namespace tutti::collector::counters {
namespace {

namespace fs = std::filesystem;
using spool::PortValue;

constexpr size_t kMostPorts = 64;

std::vector<std::string> NamesIn(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (fs::directory_iterator entry(directory, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

int64_t NumberIn(const std::string& path) {
  const auto text = os::ReadSmallFile(path);
  if (!text.ok()) return -1;
  uint64_t number = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
  if (parsed.ec != std::errc() || number > INT64_MAX) return -1;
  return static_cast<int64_t>(number);
}

}  // namespace

std::string InfinibandSampler::DefaultRoot() {
  const char* own = std::getenv("TUTTI_SYSFS");  // NOLINT(concurrency-mt-unsafe)
  return own != nullptr && *own != '\0' ? own : "/sys";
}

InfinibandSampler::InfinibandSampler(std::string root) {
  const fs::path devices = fs::path(std::move(root)) / "class/infiniband";
  for (const std::string& device : NamesIn(devices)) {
    for (const std::string& port : NamesIn(devices / device / "ports")) {
      if (ports_.size() == kMostPorts) return;
      ports_.push_back({device + "/" + port, devices / device / "ports" / port / "counters/"});
    }
  }
}

std::vector<spool::NodeSample> InfinibandSampler::Read() const {
  constexpr int64_t kBytesPerWord = 4;  // the data counters count words
  std::vector<spool::NodeSample> samples;
  for (const Port& port : ports_) {
    auto sample = spool::EmptyNodeSample(spool::NodeSource::kInfinibandPort, port.name);
    sample.monotonic_raw_ns = clock::MonotonicRawNs();
    const auto set = [&](PortValue value, const char* file, int64_t scale) {
      const int64_t number = NumberIn(port.counters + file);
      const bool fits = number >= 0 && number <= INT64_MAX / scale;
      sample.values[static_cast<size_t>(value)] = fits ? number * scale : -1;
    };
    set(PortValue::kTransmit, "port_xmit_data", kBytesPerWord);
    set(PortValue::kReceive, "port_rcv_data", kBytesPerWord);
    set(PortValue::kTransmitWait, "port_xmit_wait", 1);
    set(PortValue::kTransmitDiscards, "port_xmit_discards", 1);
    set(PortValue::kReceiveErrors, "port_rcv_errors", 1);
    set(PortValue::kSymbolErrors, "symbol_error", 1);
    set(PortValue::kLinkDowned, "link_downed", 1);
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace tutti::collector::counters
