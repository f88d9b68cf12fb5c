// Work of GPUs and the host calls that launched it: the rows of kernel, memcpy, memset and
// api_call as passes see them, linked to one another and told apart by what they do.
// Value types and pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/metrics/kernel_names.h"
#include "common/interval.h"

namespace tutti::analyzer {

// A CUDA or HIP call of the host.
struct ApiEvent {
  int64_t id = 0;
  int64_t tid = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t name_id = 0;
  int64_t correlation_id = 0;  // 0 none
};

// What a copy moves between: direction ('HtoD'), kinds of memory ('pageable', …; "" unknown).
struct CopyKind {
  std::string direction;
  std::string source;
  std::string destination;
  friend auto operator<=>(const CopyKind&, const CopyKind&) = default;
};

// A kernel, copy or fill on a stream.
struct DeviceEvent {
  enum class Kind : uint8_t { kKernel, kMemcpy, kMemset };
  Kind kind = Kind::kKernel;
  KernelRole role = KernelRole::kCompute;  // copies and fills: kPeerCopy, which is never busy
                                           // with compute or communication
  bool role_is_told = false;               // by collective metadata or a user's rule
  int64_t id = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t name_id = 0;         // kernels: a string's id; copies: place among the copy kinds
  int64_t bytes = 0;           // copies and fills
  int64_t correlation_id = 0;  // of the launch call, 0 none
  int64_t graph_node_id = 0;   // 0 outside graphs
  int64_t launch = -1;         // place of the launch call among the api calls, -1 unknown

  Interval time() const { return {begin_ns, end_ns}; }
};

// A kernel without times: the driver gave none.
struct UntimedKernel {
  int64_t id = 0;
  int64_t name_id = 0;
  int64_t correlation_id = 0;
  int64_t launch = -1;  // as above
};

// Finds the call that launched each piece of work by its correlation id. Of several calls
// with one id (a runtime call and the driver's inside it) the outer counts; of ids that were
// used again the last that begins before the work. `calls` sorted by begin.
class LaunchIndex {
 public:
  explicit LaunchIndex(std::span<const ApiEvent> calls);
  // -1 unknown.
  int64_t Find(int64_t correlation_id, int64_t work_begin_ns) const;

 private:
  struct Entry {
    int64_t correlation_id;
    int64_t place;
    int64_t begin_ns;
  };
  std::vector<Entry> entries_;  // by correlation id, then begin
};

// A collective that ran as device work, as its metadata tells.
struct DeviceCollective {
  int64_t correlation_id = 0;  // 0 unknown
  std::optional<int64_t> device_id;
  std::optional<int64_t> stream_id;
  std::optional<int64_t> begin_ns;
};

// What kernels do: those of a known collective communicate (by correlation id; inside graphs,
// whose kernels share one, by stream and begin), then a user's rules decide, then names.
// `name_of` gives the text of a name_id.
void SetRoles(std::span<DeviceEvent> events, std::span<const DeviceCollective> collectives,
              const KernelRules& rules, const std::function<const std::string&(int64_t)>& name_of);

}  // namespace tutti::analyzer
