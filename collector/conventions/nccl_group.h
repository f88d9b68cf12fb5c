// Calls of NCCL between ncclGroupStart and ncclGroupEnd on one thread: they are launched by the
// end of the outermost group, as one kernel or as one each. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tutti::collector::conventions {

// |Call|: what is remembered of a call until its group ends.
template <typename Call>
class NcclGroup {
 public:
  void Start() { ++depth_; }
  bool is_open() const { return depth_ > 0; }
  // Requires is_open().
  void Add(Call call) { calls_.push_back(std::move(call)); }
  // The calls that are launched now: none where a group around this one is still open. A capture
  // may begin inside a group: its end has no start then.
  std::vector<Call> End() {
    if (depth_ > 0) --depth_;
    return depth_ > 0 ? std::vector<Call>() : Rest();
  }
  // The calls of a group that the capture does not see the end of.
  std::vector<Call> Rest() { return std::exchange(calls_, {}); }

 private:
  int64_t depth_ = 0;
  std::vector<Call> calls_;
};

// Place among the |kernels| that were launched where |calls| calls were of the one that does call
// number |call|; absent where that isn't certain.
inline std::optional<size_t> KernelOfNcclCall(size_t call, size_t calls, size_t kernels) {
  if (kernels == calls) return call;
  if (kernels == 1) return 0;
  return std::nullopt;
}

}  // namespace tutti::collector::conventions
