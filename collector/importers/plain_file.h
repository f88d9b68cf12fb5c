// A whole file of plain data in memory: a pickle or JSON, by its content, unpacked where
// it is compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collector/importers/input_file.h"
#include "collector/importers/pickle/reader.h"
#include "common/status.h"

namespace tutti::collector::importers {

// Values are views into the document and into `bytes`: keep it where it is.
struct PlainFile {
  std::string bytes;
  pickle::Document document;
  bool is_pickle = false;
};

// Larger ones are refused before they are read: values take about three times as much
// memory again.
inline constexpr int64_t kMaxPlainFileBytes = int64_t{8} << 30;

// Fails with one plain line that begins with the file's name. A damaged file gives the
// part before the damage (document.problem).
Result<std::unique_ptr<PlainFile>> ReadPlainFile(const InputFile& file);

// True where the file begins as a pickle or as JSON with `opening` ('{' or '[').
bool BeginsAsPickle(const InputFile& file);
bool BeginsAsJson(const InputFile& file, char opening);

}  // namespace tutti::collector::importers
