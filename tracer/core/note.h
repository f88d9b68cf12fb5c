// Notes: what the user should know about this trace, in words. A note becomes a row of
// trace_stat, shown above every report.
#pragma once

#include "tracer/core/entry.h"

namespace tutti::tracer {

struct NoteText {
  wire::NoteSeverity severity;
  const char* source;  // "torch", "nvtx", "core"
  const char* code;    // stable short name, e.g. "torch_layout"
  const char* detail;  // one plain sentence: what was found
  const char* advice;  // what to do about it, "" nothing
  uint64_t count = 1;
};

// Writes |note| on this thread's ring.
void EmitNote(Entry& entry, const NoteText& note) noexcept;

// The same for callers outside an Entry. A candidate's notes (16 at most, details cut at 255
// bytes; |source|, |code| and |advice| must be literals) are kept until it is promoted; a
// process that never is says nothing.
void Note(const NoteText& note) noexcept;

// Writes what was kept. Called by the session after promotion.
void EmitKeptNotes() noexcept;

}  // namespace tutti::tracer
