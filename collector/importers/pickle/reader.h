// Reads a Python pickle of protocol 0 to 5 as plain data. Nothing is ever executed: a
// pickle that wants a class or function is refused, naming it and where, but for the few
// containers and text helpers that have a plain meaning (OrderedDict, set, …).
// The format: CPython's Lib/pickletools.py; c10's torch/csrc/jit/serialization/pickler.cpp
// writes a subset of protocol 2.
//
// One pass, no recursion. Memory stays within kMemoryPerByte times the input, whatever
// it says; parts that the pickle shares stay shared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/importers/pickle/arena.h"
#include "collector/importers/pickle/value.h"
#include "common/status.h"

namespace tutti::collector::importers::pickle {

// Worst case ("]]]]…": a list a byte, on the stack and in the memo besides).
inline constexpr size_t kMemoryPerByte = 100;

struct Document {
  Value root;
  int protocol = 0;           // highest that the pickle says it is written in
  uint64_t bytes_read = 0;    // up to and with its end
  Status problem;             // not ok: damaged there; `root` is what was read before
  uint64_t big_integers = 0;  // beyond 64 bits with sign
  uint64_t first_big_integer_offset = 0;
  uint64_t ignored_states = 0;  // attributes set on plain containers: no plain meaning
  Arena arena;                  // storage of the values
};

// `bytes` must outlive the document. Fails if nothing can be read of it, or if it names
// something that would have to be executed; a damaged one gives the part before that.
// Messages say what and at which byte, not in which file.
Result<Document> Read(std::string_view bytes);

// True if a file that begins so may be a pickle: cheap, never sure for protocols 0 and 1.
bool LooksLikePickle(std::string_view head);

}  // namespace tutti::collector::importers::pickle
