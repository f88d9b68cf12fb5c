#include "collector/os/interruption.h"

#include <atomic>

namespace tutti::collector::os {
namespace {

std::atomic<int> arrived{0};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<int>::is_always_lock_free);

void Note(int signal) {
  int none = 0;
  arrived.compare_exchange_strong(none, signal, std::memory_order_relaxed);
}

}  // namespace

Interruption::Interruption() {
  struct sigaction action {};
  action.sa_handler = &Note;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

int Interruption::Signal() { return arrived.load(std::memory_order_relaxed); }

Status Interruption::Check() {
  if (Signal() == 0) return OkStatus();
  return UnavailableError("interrupted; nothing was imported");
}

}  // namespace tutti::collector::os
