// What the collector read about the node's GPUs and network ports -> counter, counter_sample. Each
// process's spool has the samples of all GPUs; those of GPUs that the process uses become rows. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/convert/context.h"
#include "collector/spool/format.h"

namespace tutti::collector::convert {

class NodeSamples {
 public:
  // The id of the GPU with a UUID, absent if the process does not use it, as far as is known.
  using DeviceOf = std::function<std::optional<int64_t>(const std::string& uuid)>;

  NodeSamples(Context& context, clock::Anchor anchor, DeviceOf device_of)
      : context_(context), anchor_(anchor), device_of_(std::move(device_of)) {}

  void OnSample(const spool::NodeSample& sample);

  // Call once, when all of the process's GPUs are known.
  void Finish();

 private:
  struct Source {
    spool::NodeSource kind = {};
    int64_t first_counter = -1;  // id of the first of its counters, -1 before they are written
    std::optional<int64_t> device = {};
    std::vector<spool::NodeSample> waiting = {};  // of a GPU that is not known to be used yet
  };
  // Samples before the process names its GPUs, an hour of them; later ones take their place.
  static constexpr size_t kMostWaiting = 16'384;

  void Write(const std::string& name, Source& source, const spool::NodeSample& sample);
  void WriteCounters(const std::string& name, Source& source);
  bool IsUsed(const std::string& name, Source& source);

  Context& context_;
  clock::Anchor anchor_;
  DeviceOf device_of_;
  std::map<std::string, Source> sources_;  // by UUID or port
};

}  // namespace tutti::collector::convert
