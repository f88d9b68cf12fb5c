// The threads of one process that wrote events, and what they were seen doing. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "collector/convert/row_output.h"

namespace tutti::collector::convert {

class ThreadTable {
 public:
  using Index = uint32_t;
  enum class Seen : uint8_t { kNothing, kBackward, kCollective };

  // |main_tid|: thread id of the process's first thread, as the process numbers it.
  explicit ThreadTable(uint32_t main_tid) : main_tid_(main_tid) {}

  // The thread with this kernel id and start time; added if it is new. The kernel
  // reuses ids: of two threads with one id, the later gets a row with a negative one.
  Index Find(uint32_t kernel_tid, uint64_t start_ticks);
  // The latest thread with this kernel id, whenever it started.
  Index FindLatest(uint32_t kernel_tid);

  // Value for tid columns.
  int64_t RowTid(Index thread) const { return threads_[thread].row.tid; }

  // |by_program| names (nvtxNameOsThread) beat the kernel's.
  void SetName(Index thread, std::string_view name, bool by_program);
  void SetTorchTid(Index thread, int64_t torch_tid);
  void SetSeen(Index thread, Seen seen);
  void SawTime(Index thread, int64_t begin_ns, int64_t end_ns) {
    Thread& entry = threads_[thread];
    if (!entry.row.begin_ns || begin_ns < *entry.row.begin_ns) entry.row.begin_ns = begin_ns;
    if (!entry.row.end_ns || end_ns > *entry.row.end_ns) entry.row.end_ns = end_ns;
    entry.changed = true;
  }

  // (Re)writes the rows of threads that changed since the last call.
  void WriteChanged(RowOutput& rows);

 private:
  struct Thread {
    schema::ThreadRow row;
    Seen seen = Seen::kNothing;
    bool named_by_program = false;
    bool changed = true;
  };
  std::string RoleOf(const Thread& thread) const;

  uint32_t main_tid_;
  int64_t next_negative_tid_ = -1;
  std::vector<Thread> threads_;
  std::map<std::pair<uint32_t, uint64_t>, Index> by_identity_;
  std::map<uint32_t, Index> latest_;
};

}  // namespace tutti::collector::convert
