#include "collector/drain/disk_budget.h"

#include <algorithm>

#include "collector/os/files.h"

namespace tutti::collector::drain {
namespace {

// A rank file takes less than this part of the spool that it is made of. Rows of
// operators need 40 to 60 bytes for a cell of 64; the log beside the file adds to it.
constexpr uint64_t kRowsPercent = 90;
// What a rank file needs however short the recording: tables, strings, log, ballast.
constexpr int64_t kFixedReserveBytes = 8 << 20;
// Room for what is in the buffers when capture is told to stop.
constexpr uint64_t kStopPercent = 90;

}  // namespace

bool DiskBudget::DiskHasRoom(uint64_t bytes) {
  const auto reserve =
      static_cast<int64_t>(spooled_bytes_ / 100 * kRowsPercent) + kFixedReserveBytes;
  const auto needed = static_cast<int64_t>(bytes) + reserve;
  if (known_free_bytes_ < needed + (64 << 20)) known_free_bytes_ = os::FreeBytes(directory_);
  if (known_free_bytes_ < needed) return false;
  known_free_bytes_ -= static_cast<int64_t>(bytes);
  return true;
}

BudgetState DiskBudget::StateFor(uint64_t bytes) {
  if (!DiskHasRoom(bytes)) return BudgetState::kFull;
  if (max_bytes_ == 0) return BudgetState::kPlenty;
  const uint64_t spool_share = max_bytes_ / (100 + kRowsPercent) * 100;
  if (spooled_bytes_ + bytes > spool_share) return BudgetState::kFull;
  if (spooled_bytes_ + bytes > spool_share / 100 * kStopPercent) return BudgetState::kStop;
  return BudgetState::kPlenty;
}

}  // namespace tutti::collector::drain
