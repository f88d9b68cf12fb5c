#include "tracer/core/gate.h"

#include <sys/mman.h>

namespace tutti::tracer {

bool OpenGate() noexcept {
  void* page =
      mmap(nullptr, wire::kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  if (madvise(page, wire::kPageBytes, MADV_WIPEONFORK) != 0) {
    munmap(page, wire::kPageBytes);
    return false;
  }
  // The kernel's zeroes are a valid Gate in state kCandidate, as they must be in a child.
  Process::gate.store(static_cast<Gate*>(page), std::memory_order_release);
  return true;
}

uint32_t NextEpoch() noexcept {
  static constinit std::atomic<uint32_t> last_epoch{0};
  const uint32_t epoch = last_epoch.fetch_add(1, std::memory_order_relaxed) + 1;
  return epoch != 0 ? epoch : 1;
}

}  // namespace tutti::tracer
