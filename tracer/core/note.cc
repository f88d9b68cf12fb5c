#include "tracer/core/note.h"

#include <atomic>

#include "tracer/core/process_info.h"

namespace tutti::tracer {
namespace {

// A candidate's note, in words of its own: the detail may be the caller's buffer.
struct KeptNote {
  std::atomic<bool> complete;
  NoteText text;
  char detail[256];
};

struct KeptNotes {
  static constexpr uint32_t kCapacity = 16;
  static inline constinit std::atomic<uint32_t> used{0};
  static inline constinit KeptNote notes[kCapacity]{};
};

void Keep(const NoteText& note) noexcept {
  // Looked at first, so that the counter can't wrap.
  if (KeptNotes::used.load(std::memory_order_relaxed) >= KeptNotes::kCapacity) return;
  const uint32_t index = KeptNotes::used.fetch_add(1, std::memory_order_relaxed);
  if (index >= KeptNotes::kCapacity) return;
  KeptNote& kept = KeptNotes::notes[index];
  kept.text = note;
  std::strncpy(kept.detail, note.detail, sizeof(kept.detail) - 1);
  kept.text.detail = kept.detail;
  kept.complete.store(true, std::memory_order_release);
}

}  // namespace

void EmitNote(Entry& entry, const NoteText& note) noexcept {
  entry.Emit(
      wire::NoteRecord{.header = HeaderOf(wire::RecordKind::kNote, entry.InternText(note.code),
                                          static_cast<uint16_t>(note.severity)),
                       .ticks = entry.Now(),
                       .source = entry.InternText(note.source),
                       .detail = entry.InternText(note.detail),
                       .advice = entry.InternText(note.advice),
                       .reserved0 = 0,
                       .count = note.count,
                       .reserved1 = {}});
}

void Note(const NoteText& note) noexcept {
  Entry entry(kCaptureAlways);
  if (entry) {
    EmitNote(entry, note);
  } else if (CurrentGate().state.load(std::memory_order_relaxed) < SessionState::kActive) {
    Keep(note);
  }
}

void EmitKeptNotes() noexcept {
  if (KeptNotes::used.load(std::memory_order_relaxed) == 0) return;  // an Entry claims a ring
  Entry entry(kCaptureAlways);
  if (!entry) return;
  for (KeptNote& kept : KeptNotes::notes) {
    // Once a process: a child that becomes a rank of its own has inherited them as told.
    if (kept.complete.exchange(false, std::memory_order_acquire)) EmitNote(entry, kept.text);
  }
}

}  // namespace tutti::tracer
