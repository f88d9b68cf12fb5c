#include "collector/convert/thread_table.h"

#include <algorithm>

#include "common/text.h"

namespace tutti::collector::convert {

ThreadTable::Index ThreadTable::Find(uint32_t kernel_tid, uint64_t start_ticks) {
  const auto [known, is_new] =
      by_identity_.try_emplace({kernel_tid, start_ticks}, static_cast<Index>(threads_.size()));
  if (!is_new) return known->second;
  const bool id_is_taken = latest_.contains(kernel_tid);
  Thread thread;
  thread.row.kernel_tid = kernel_tid;
  thread.row.tid = id_is_taken ? next_negative_tid_-- : kernel_tid;
  threads_.push_back(std::move(thread));
  latest_[kernel_tid] = known->second;
  return known->second;
}

ThreadTable::Index ThreadTable::FindLatest(uint32_t kernel_tid) {
  const auto latest = latest_.find(kernel_tid);
  return latest != latest_.end() ? latest->second : Find(kernel_tid, 0);
}

void ThreadTable::SetName(Index thread, std::string_view name, bool by_program) {
  Thread& entry = threads_[thread];
  if (name.empty() || (entry.named_by_program && !by_program)) return;
  entry.row.name = ToStorableText(name);
  entry.named_by_program = by_program;
  entry.changed = true;
}

void ThreadTable::SetTorchTid(Index thread, int64_t torch_tid) {
  if (!threads_[thread].row.torch_tid) threads_[thread].row.torch_tid = torch_tid;
}

void ThreadTable::SetSeen(Index thread, Seen seen) {
  threads_[thread].seen = std::max(threads_[thread].seen, seen);
}

// By what a thread did first, by its name second: autograd's device threads and the
// data loader's pinning thread carry names (pt_autograd_0, pt_data_pin), Gloo's do not.
std::string ThreadTable::RoleOf(const Thread& thread) const {
  if (thread.row.kernel_tid == main_tid_) return "main";
  if (thread.seen == Seen::kCollective) return "gloo";
  if (thread.seen == Seen::kBackward) return "autograd";
  const std::string_view name = thread.row.name ? *thread.row.name : std::string_view();
  if (name.starts_with("pt_autograd")) return "autograd";
  if (name.starts_with("pt_gloo")) return "gloo";
  if (name.starts_with("pt_data")) return "loader";
  return "";
}

void ThreadTable::WriteChanged(RowOutput& rows) {
  for (Thread& thread : threads_) {
    if (!thread.changed) continue;
    thread.changed = false;
    if (std::string role = RoleOf(thread); !role.empty()) thread.row.role = std::move(role);
    rows.Append(thread.row);
  }
}

}  // namespace tutti::collector::convert
