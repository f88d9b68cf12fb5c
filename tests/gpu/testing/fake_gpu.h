// A GPU's timeline for programs that have none: what is launched on a stream starts when the
// stream is free, takes the time told, and is recorded by the fake libcupti. Any thread, one at a
// time. Before a tool records, the timeline stands still and nothing is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::fake_gpu {

// The driver's start in this process, and with it the tool's; more than once does nothing.
void Initialize();

// A call of the runtime from its construction to its end; |callback_id| is CUPTI's number of it.
class Call {
 public:
  explicit Call(uint32_t callback_id);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  uint32_t correlation() const { return correlation_; }
  void set_result(uint32_t result) { result_ = result; }

 private:
  uint32_t callback_id_;
  uint32_t correlation_;
  uint32_t result_ = 0;
  uint64_t begin_;
};

uint32_t NewStream();

// Work on |stream|, launched by |call|.
void Kernel(const Call& call, uint32_t stream, uint64_t ns, uint64_t graph_node = 0);
// A launch of a graph of kernels of these lengths: a row for each, or one for all where the tool
// asked for that.
void Graph(const Call& call, uint32_t stream, const std::vector<uint64_t>& kernels_ns);
struct CopyEnds {
  uint8_t copy_kind;    // CUpti_ActivityMemcpyKind
  uint8_t source;       // CUpti_ActivityMemoryKind
  uint8_t destination;  // the same
  bool is_async;
};
void Copy(const Call& call, uint32_t stream, const CopyEnds& ends, size_t bytes);
void Fill(const Call& call, uint32_t stream, int value, size_t bytes);

// |kind|: CUpti_ActivityMemoryKind
void Allocation(const Call& call, const void* address, size_t bytes, int kind, bool is_release);

// Waits for |stream|, or for all (stream 0), and records that as a wait of |type|
// (CUpti_ActivitySynchronizationType). StreamWait: |stream| waits for |other|, not the host.
void HostWait(const Call& call, uint32_t stream, int type);
void StreamWait(const Call& call, uint32_t stream, uint32_t other);

}  // namespace tutti::fake_gpu
