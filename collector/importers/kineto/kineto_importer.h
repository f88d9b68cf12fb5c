// Kineto and other Chrome-trace JSON -> a rank's trace. What is taken, and what becomes of
// it, is said in docs/import-kineto.md; memory does not depend on the size of the file.
// Stateless; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/importers/byte_source.h"
#include "collector/importers/importer.h"

namespace tutti::collector::importers {

class KinetoImporter final : public Importer {
 public:
  std::string_view format() const override { return "kineto"; }
  bool Recognizes(const InputFile& file) const override;
  // An archive gives one trace per member that is one. The trace of a file with several
  // documents holds all of them.
  Status Import(const InputFile& file, ImportTarget& target) const override;
};

namespace kineto {

// True if the beginning of a text looks like that of a Chrome trace.
bool LooksLikeTrace(std::string_view head);

// "baseTimeNanoseconds" in a piece of a trace's text; absent if it is not in there. Finds
// the last one that is a key with a number.
std::optional<int64_t> FindBaseTime(std::string_view text);

// Reads a trace from `source` into `sink`, whose `sources.back()` it completes. `base_ns` is
// added to every time; a base that the text tells later moves what was written. Not ok: it
// is no trace of a training job, is refused, or writing failed. For fuzzers and tests too.
Status ReadTrace(ByteSource& source, int64_t base_ns, TraceSink& sink);

}  // namespace kineto
}  // namespace tutti::collector::importers
