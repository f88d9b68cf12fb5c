#include "tracer/core/session.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tracer/core/environment.h"
#include "tracer/core/handshake.h"
#include "tracer/core/note.h"
#include "tracer/core/preload.h"
#include "tracer/core/process_info.h"
#include "tracer/core/thread_end.h"
#include "tracer/core/thread_state.h"

namespace tutti::tracer {
namespace {

// Of the process, kept by forked children: who they were told to ask does not change.
struct Session {
  enum class Step : uint32_t { kFresh, kConfiguring, kConfigured };

  static constexpr uint32_t kMaxHooks = 8;

  static inline constinit std::atomic<Step> step{Step::kFresh};
  static inline constinit SessionAddress address{};
  static inline constinit const char* configuration_problem = nullptr;
  static inline constinit std::atomic<bool> said_something{false};
  static inline constinit PromotionHook hooks[kMaxHooks]{};
  static inline constinit std::atomic<uint32_t> hook_count{0};
};

// One line, once a process, whatever goes wrong; a write(2), since stdio may be the program's
// own mess at this point. |detail| comes from outside: control characters are replaced.
void Say(const char* what, const char* detail) noexcept {
  if (Session::said_something.load(std::memory_order_relaxed)) return;
  if (Session::said_something.exchange(true)) return;
  char line[512];
  const int length = std::snprintf(line, sizeof(line), "tutti: process %d is not traced: %s%s%s",
                                   getpid(), what, *detail != '\0' ? ": " : "", detail);
  if (length < 0) return;
  size_t bytes =
      static_cast<size_t>(length) < sizeof(line) ? static_cast<size_t>(length) : sizeof(line) - 1;
  for (size_t i = 0; i < bytes; ++i) {
    if (static_cast<unsigned char>(line[i]) < ' ' || line[i] == '\x7f') line[i] = '?';
  }
  line[bytes++] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, bytes);
}

// Makes the private side of |mapped|: a state for each ring.
bool FillGate(const MappedSegment& mapped, Gate* gate) noexcept {
  const wire::SegmentLayout& layout = mapped.layout;
  void* threads = MapPrivate(layout.ring_count * sizeof(ThreadState));
  if (threads == nullptr) return false;
  gate->clock_kind = layout.clock_kind;
  gate->ring_count = layout.ring_count;
  gate->segment = reinterpret_cast<wire::SegmentHeader*>(mapped.base);
  gate->rings = mapped.rings;
  gate->threads = static_cast<ThreadState*>(threads);
  gate->strings.Attach(mapped.base, layout);
  return true;
}

// What the user must know of a refusal; nullptr for those that are no fault.
const char* RefusalToTell(wire::WelcomeStatus status) noexcept {
  switch (status) {
    case wire::WelcomeStatus::kRefusedVersion:
    case wire::WelcomeStatus::kRefusedToken:
    case wire::WelcomeStatus::kRefusedResources:
      return "the collector refused it";
    default:
      return nullptr;  // a helper of a rank, or a rank that --ranks leaves out
  }
}

// Asks the collector and fills in |gate|. False if this process is not to be traced.
bool AskCollector(const char* reason, Gate* gate) noexcept {
  const RankIdentity identity = ReadIdentity(&SecureVariable);
  wire::Hello hello = MakeHello(identity, reason);
  static_assert(sizeof(hello.token) == sizeof(Session::address.token));
  std::memcpy(hello.token, Session::address.token, sizeof(hello.token));
  wire::Welcome welcome{};
  int file = -1;
  if (const char* problem =
          ExchangeHello(Session::address, hello, kHandshakeLimitNs, &welcome, &file)) {
    Say(problem, "");
    return false;
  }
  if (welcome.status != wire::WelcomeStatus::kAccepted) {
    if (const char* refusal = RefusalToTell(welcome.status)) Say(refusal, welcome.text);
    return false;
  }
  MappedSegment mapped{};
  const char* problem = MapSegment(file, welcome.segment_bytes, &mapped);
  close(file);
  if (problem == nullptr && !FillGate(mapped, gate)) problem = "no memory";
  if (problem != nullptr) Say(problem, "");
  return problem == nullptr;
}

void AfterPromotion() noexcept {
  EmitKeptNotes();
  if (!RemoveOwnPreload()) {
    Note({wire::NoteSeverity::kInfo, "core", "preload_kept",
          "LD_PRELOAD could not be changed: this rank's children load the tracer too",
          "harmless: they do not record"});
  }
  const uint32_t count = Session::hook_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < Session::kMaxHooks; ++i) {
    if (Session::hooks[i] != nullptr) Session::hooks[i]();
  }
}

// For a process that would be a rank now, if it were not closed. Silent where no TUTTI_SESSION
// says that it is to be traced.
bool TellWhyClosed() noexcept {
  if (Session::step.load(std::memory_order_acquire) == Session::Step::kConfigured &&
      Session::configuration_problem != nullptr) {
    Say(Session::configuration_problem, "");
  }
  return false;
}

// Reads the environment. True if this process is a candidate, or was meant to be one
// (Session::configuration_problem says then why it can't).
bool ReadConfiguration() noexcept {
  if (getauxval(AT_SECURE) != 0) return false;
  const char* session = SecureVariable("TUTTI_SESSION");
  if (session == nullptr || *session == '\0') return false;
  Session::configuration_problem = ParseSession(session, &Session::address);
  return true;
}

}  // namespace

void Configure() noexcept {
  auto step = Session::Step::kFresh;
  if (!Session::step.compare_exchange_strong(step, Session::Step::kConfiguring)) return;
  const ErrnoKeeper keeper;
  if (ReadConfiguration() && !OpenGate()) {
    // Without the gate forked children could not be told from their parent.
    Session::configuration_problem = "the kernel can't wipe memory on fork (needs Linux 4.14)";
  }
  Session::step.store(Session::Step::kConfigured, std::memory_order_release);
}

bool Promote(const char* reason) noexcept {
  Gate& gate = CurrentGate();
  SessionState state = gate.state.load(std::memory_order_acquire);
  if (&gate == &Process::closed_gate) return TellWhyClosed();
  if (state != SessionState::kCandidate) return state == SessionState::kActive;
  if (!gate.state.compare_exchange_strong(state, SessionState::kPromoting,
                                          std::memory_order_acq_rel)) {
    return state == SessionState::kActive;
  }
  const ErrnoKeeper keeper;
  if (Session::configuration_problem != nullptr) {
    Say(Session::configuration_problem, "");
    gate.state.store(SessionState::kDisabled, std::memory_order_release);
    return false;
  }
  PrepareThreadEnds();
  if (!AskCollector(reason, &gate)) {
    gate.state.store(SessionState::kDisabled, std::memory_order_release);
    return false;
  }
  gate.epoch.store(NextEpoch(), std::memory_order_release);
  gate.state.store(SessionState::kActive, std::memory_order_release);
  AfterPromotion();
  return true;
}

void AddPromotionHook(PromotionHook hook) noexcept {
  const uint32_t index = Session::hook_count.fetch_add(1, std::memory_order_acq_rel);
  if (index < Session::kMaxHooks) Session::hooks[index] = hook;
}

void Disable(const char* why) noexcept {
  Gate& gate = CurrentGate();
  gate.state.store(SessionState::kDisabled, std::memory_order_release);
  gate.epoch.store(0, std::memory_order_release);
  Say(why, "");
}

void ResetForTesting() noexcept {
  Gate& gate = CurrentGate();
  if (&gate != &Process::closed_gate) {
    Process::gate.store(&Process::closed_gate, std::memory_order_release);
    munmap(&gate, wire::kPageBytes);
  }
  Session::configuration_problem = nullptr;
  Session::said_something.store(false);
  Session::step.store(Session::Step::kFresh, std::memory_order_release);
}

}  // namespace tutti::tracer
