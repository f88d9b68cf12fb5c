// libFuzzer on the pickle and JSON readers: any bytes give plain data or one plain line,
// within the memory that the reader promises, and a cut file gives what it began with.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "collector/importers/pickle/json.h"
#include "collector/importers/pickle/reader.h"

namespace {

using tutti::Result;
using namespace tutti::collector::importers::pickle;  // NOLINT(google-build-using-namespace)

// Looks at every kind of value, as deep and as often as a caller may.
uint64_t Look(Value value, int depth, int& steps) {
  if (depth == 0 || --steps < 0) return 0;
  uint64_t sum = value.identity() + static_cast<uint64_t>(value.Int().value_or(1)) +
                 static_cast<uint64_t>(value.Bits64().value_or(2)) +
                 value.Text().value_or("").size() + (value.Has("a") ? 1 : 0);
  for (const Value item : value.Items()) sum += Look(item, depth - 1, steps);
  for (const DictEntry& entry : value.Entries()) {
    sum += Look(entry.key, depth - 1, steps) + Look(entry.value, depth - 1, steps);
  }
  return sum;
}

void Check(const Result<Document>& document, size_t size) {
  if (!document.ok()) {
    if (document.status().message().empty()) std::abort();
    return;
  }
  // Blocks of the arena double: the last may be half empty.
  if (document->arena.bytes() > 2 * kMemoryPerByte * size + (size_t{1} << 20)) std::abort();
  int steps = 10'000;
  Look(document->root, 20, steps);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  LooksLikePickle(bytes);
  Check(Read(bytes), size);
  Check(ReadJson(bytes), size);
  return 0;
}
