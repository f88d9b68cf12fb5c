// NCCL's calls on the host (its own NVTX ranges, and what its profiler plugin is told) and its
// kernels on the GPU -> collective_source, communicator. A call's kernel is the one that was
// launched inside it; of calls in a group, one kernel for all of them or one for each, launched
// inside ncclGroupEnd. Where neither is certain the call stands without times. What the plugin
// tells of a call (order, algorithm, …) belongs to the first range of its communicator, operation
// and size that has none.
//
// GPU events arrive up to seconds after the host's, so calls, launches and kernels wait until
// nothing more of their time can come; memory is bounded by that. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "collector/conventions/nccl_group.h"
#include "collector/conventions/nccl_kernel.h"
#include "collector/conventions/nccl_payload.h"
#include "collector/convert/context.h"
#include "common/wire/record.h"

namespace tutti::collector::convert {

class NcclRecords {
 public:
  explicit NcclRecords(Context& context) : context_(context) {}

  // A range of NCCL's domain that ended.
  void OnRange(const schema::RangeRow& range, std::string_view name);
  // A call that may have launched work.
  void OnLaunch(int64_t tid, int64_t begin_ns, int64_t correlation_id);
  void OnKernel(const schema::KernelRow& kernel, const conventions::NcclKernel& names);

  // From NCCL's profiler plugin.
  void OnCommunicator(const wire::NcclCommunicatorRecord& record);
  void OnPluginCall(ThreadTable::Index thread, const wire::NcclCallRecord& record);

  // Writes what lies so far before |now_ns| that all of it is here.
  void Advance(int64_t now_ns);
  void Finish();

 private:
  enum class Kind { kCall, kGroupStart, kGroupEnd };
  struct Range {
    Kind kind;
    int64_t tid;
    int64_t begin_ns;
    int64_t end_ns;
    std::string_view op;  // a literal
    conventions::NcclPayload payload;
  };
  struct Kernel {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t device_id;
    int64_t stream_id;
  };
  struct Launch {
    int64_t begin_ns;
    int64_t correlation_id;
  };
  struct Found {
    int64_t correlation_id;
    Kernel kernel;
  };
  struct Thread {
    std::vector<Launch> launches;
    conventions::NcclGroup<Range> group;
  };

  // What the plugin told of one call, but for its communicator and operation.
  struct PluginCall {
    int64_t time_ns;
    int64_t tid;
    std::optional<int64_t> sequence;
    std::optional<int64_t> peer;
    std::optional<int64_t> root;
    int64_t dtype_id;
    std::optional<std::string> algorithm;
    std::optional<std::string> protocol;
    std::optional<int64_t> channels;
  };
  using CallKey = std::tuple<uint64_t, std::string_view, int64_t>;  // communicator, op, bytes

  void WriteUntil(int64_t limit_ns);
  void WritePluginCalls(int64_t limit_ns);
  std::optional<PluginCall> TakePluginCall(const CallKey& key, int64_t begin_ns);
  void WriteLaunched(const Thread& thread, const Range& launcher, const std::vector<Range>& calls);
  std::vector<Found> KernelsWithin(const Thread& thread, const Range& range) const;
  void Write(const Range& range, const Found* found);
  static void Fill(schema::CollectiveSourceRow& row, const PluginCall& call);
  void CountOddCall();

  Context& context_;
  std::vector<Range> ranges_;
  std::map<int64_t, Thread> threads_;                       // by tid of rows
  std::unordered_map<int64_t, Kernel> kernels_;             // by correlation id
  std::map<CallKey, std::deque<PluginCall>> plugin_calls_;  // in order of time
  size_t waiting_plugin_calls_ = 0;
};

}  // namespace tutti::collector::convert
