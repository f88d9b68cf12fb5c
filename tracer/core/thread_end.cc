#include "tracer/core/thread_end.h"

#include <pthread.h>

#include <atomic>

#include "tracer/core/gate.h"
#include "tracer/core/thread_state.h"

namespace tutti::tracer {
namespace {

// The C library keeps the values of the first keys in the thread's own block and allocates room
// for later ones (glibc: PTHREAD_KEY_2NDLEVEL_SIZE).
constexpr pthread_key_t kKeysWithoutAllocation = 32;

struct ThreadEnd {
  enum class Step : uint32_t { kFresh, kPreparing, kReady, kImpossible };

  static inline constinit std::atomic<Step> step{Step::kFresh};
  static inline constinit pthread_key_t key{};  // written before kReady
};

// On the ending thread, after the destructors of C++ thread_local objects. Open spans stay where
// the collector finds them, as those of any thread that ended inside them.
void ReleaseRing(void*) noexcept {
  const uint32_t epoch = CurrentGate().epoch.load(std::memory_order_acquire);
  ThreadSlot& slot = Thread::slot;
  ThreadState* const thread = slot.state;
  // An epoch that differs: it owns no ring, or the slot is a copy of the parent's, in a forked
  // child.
  if (epoch == 0 || slot.ready_epoch != epoch || thread->depth != 0) {
    return;
  }
  slot.ready_epoch = 0;
  slot.state = nullptr;
  slot.claim_countdown = 0;
  // No thread any more; in this order the collector never sees a claimed ring whose thread is gone
  // and which the next thread is about to claim.
  thread->ring->tid.store(0, std::memory_order_relaxed);
  thread->ring->owner.store(wire::RingOwner::kReleased, std::memory_order_release);
}

}  // namespace

void PrepareThreadEnds() noexcept {
  auto step = ThreadEnd::Step::kFresh;
  if (!ThreadEnd::step.compare_exchange_strong(step, ThreadEnd::Step::kPreparing)) return;
  pthread_key_t key{};
  const bool made = pthread_key_create(&key, &ReleaseRing) == 0;
  if (made && key >= kKeysWithoutAllocation) pthread_key_delete(key);
  ThreadEnd::key = key;
  ThreadEnd::step.store(
      made && key < kKeysWithoutAllocation ? ThreadEnd::Step::kReady : ThreadEnd::Step::kImpossible,
      std::memory_order_release);
}

void ReleaseRingAtThreadEnd() noexcept {
  if (ThreadEnd::step.load(std::memory_order_acquire) != ThreadEnd::Step::kReady) return;
  // Any value but null: it only has the destructor called.
  (void)pthread_setspecific(ThreadEnd::key, &Thread::slot);
}

}  // namespace tutti::tracer
