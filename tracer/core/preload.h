// Takes this library out of LD_PRELOAD, for the children of a rank, without touching the
// entries that are the user's.
#pragma once

#include <cstddef>
#include <string_view>

namespace tutti::tracer {

// Writes |value| (entries between colons or blanks, as ld.so(8) reads them) without the
// entries that |is_ours| names into |out|, which must hold value.size() + 1 bytes; separators
// of what stays are kept. Returns the new length.
size_t WithoutEntries(std::string_view value, bool (*is_ours)(std::string_view),
                      char* out) noexcept;

// Removes the entry by which this library was loaded from LD_PRELOAD in `environ`, in place:
// no allocation, and no plain store, since the string may lie in read-only memory. Children
// that are given a copy of the environment made earlier are not reached. False if the
// variable could not be written; it is then as it was.
bool RemoveOwnPreload() noexcept;

}  // namespace tutti::tracer
