#include "collector/drain/disk_budget.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "collector/os/files.h"

namespace tutti::collector::drain {
namespace {

// A rank file takes less than this part of the spool that it is made of: 40 bytes for an
// operator's cell of 64 were measured.
constexpr uint64_t kRowsPercent = 75;
// What a rank file needs however short the recording: its write-ahead log (the writer
// commits up to 8 MiB of rows at once), tables, strings, ballast.
constexpr int64_t kFixedReserveBytes = 14 << 20;
// For the chunks that end a spool: open spans, losses, notes.
constexpr uint64_t kLastChunksBytes = 256 << 10;
// Room for what is in the buffers when capture is told to stop.
constexpr uint64_t kStopPercent = 90;

}  // namespace

DiskBudget::DiskBudget(uint64_t max_bytes, int directory)
    : max_bytes_(max_bytes),
      max_file_bytes_(std::numeric_limits<uint64_t>::max()),
      directory_(directory) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    max_file_bytes_ = limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, kLastChunksBytes);
  }
}

bool DiskBudget::DiskHasRoom(uint64_t bytes) {
  const uint64_t unconverted = spooled_bytes_ - std::min(spooled_bytes_, converted_bytes_);
  const auto reserve = static_cast<int64_t>(unconverted / 100 * kRowsPercent) + kFixedReserveBytes;
  const auto needed = static_cast<int64_t>(bytes) + reserve;
  if (known_free_bytes_ < needed + (64 << 20)) known_free_bytes_ = os::FreeBytes(directory_);
  if (known_free_bytes_ < needed) return false;
  known_free_bytes_ -= static_cast<int64_t>(bytes);
  return true;
}

BudgetState DiskBudget::StateFor(uint64_t bytes, uint64_t file_bytes) {
  if (file_bytes + bytes > max_file_bytes_) return BudgetState::kFull;
  if (!DiskHasRoom(bytes)) return BudgetState::kFull;
  if (max_bytes_ == 0) return BudgetState::kPlenty;
  const uint64_t spool_share = max_bytes_ / (100 + kRowsPercent) * 100;
  if (spooled_bytes_ + bytes > spool_share) return BudgetState::kFull;
  if (spooled_bytes_ + bytes > spool_share / 100 * kStopPercent) return BudgetState::kStop;
  return BudgetState::kPlenty;
}

}  // namespace tutti::collector::drain
