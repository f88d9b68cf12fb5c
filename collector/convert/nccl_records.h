// NCCL's calls on the host (its own NVTX ranges) and its kernels on the GPU ->
// collective_source, communicator. A call's kernel is the one that was launched inside it; of
// calls in a group, one kernel for all of them or one for each, launched inside ncclGroupEnd.
// Where neither is certain the call stands without times.
//
// GPU events arrive up to seconds after the host's, so calls, launches and kernels wait until
// nothing more of their time can come; memory is bounded by that. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/conventions/nccl_kernel.h"
#include "collector/conventions/nccl_payload.h"
#include "collector/convert/context.h"

namespace tutti::collector::convert {

class NcclRecords {
 public:
  explicit NcclRecords(Context& context) : context_(context) {}

  // A range of NCCL's domain that ended.
  void OnRange(const schema::RangeRow& range, std::string_view name);
  // A call that may have launched work.
  void OnLaunch(int64_t tid, int64_t begin_ns, int64_t correlation_id);
  void OnKernel(const schema::KernelRow& kernel, const conventions::NcclKernel& names);

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
    std::vector<Range> group;  // calls of the group that is open
    int64_t depth = 0;
  };

  void WriteUntil(int64_t limit_ns);
  void OnGroupEnd(Thread& thread, const Range& range);
  std::vector<Found> KernelsWithin(const Thread& thread, const Range& range) const;
  void Write(const Range& range, const Found* found);

  Context& context_;
  std::vector<Range> ranges_;
  std::map<int64_t, Thread> threads_;            // by tid of rows
  std::unordered_map<int64_t, Kernel> kernels_;  // by correlation id
};

}  // namespace tutti::collector::convert
