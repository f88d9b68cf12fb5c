#include "collector/importers/plain_file.h"

#include <utility>

#include "collector/importers/byte_source.h"
#include "collector/importers/pickle/json.h"

namespace tutti::collector::importers {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

Status Named(const InputFile& file, const Status& status) {
  return {status.code(), file.name + ": " + status.message()};
}

// Puts what can be read into `bytes`; `cut` says why it is not all. Fails where nothing of
// it should be used.
Status ReadAll(const InputFile& file, std::string& bytes, Status& cut) {
  ByteLimits limits;
  limits.max_bytes = kMaxPlainFileBytes;
  if (PackingOf(file.head.data(), file.head.size()) == Packing::kZip) {
    return BadDataError(file.name + ": an archive of dumps; unpack it first");
  }
  TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenBytes(file.path, limits));
  if (file.bytes > 0 && file.bytes <= kMaxPlainFileBytes) {
    bytes.reserve(static_cast<size_t>(file.bytes) + kChunkBytes);
  }
  for (;;) {
    const size_t before = bytes.size();
    bytes.resize(before + kChunkBytes);
    const Result<size_t> got = source->Read(bytes.data() + before, kChunkBytes);
    bytes.resize(before + (got.ok() ? *got : 0));
    if (got.ok() && *got > 0) continue;
    if (!got.ok() && (source->refused() || bytes.empty())) return Named(file, got.status());
    if (!got.ok()) cut = got.status();
    return OkStatus();
  }
}

}  // namespace

Result<std::unique_ptr<PlainFile>> ReadPlainFile(const InputFile& file) {
  auto plain = std::make_unique<PlainFile>();
  Status cut;
  TUTTI_RETURN_IF_ERROR(ReadAll(file, plain->bytes, cut));
  plain->is_pickle = BeginsAsPickle(file);
  Result<pickle::Document> document =
      plain->is_pickle ? pickle::Read(plain->bytes) : pickle::ReadJson(plain->bytes);
  if (!document.ok()) return Named(file, document.status());
  plain->document = std::move(*document);
  if (!cut.ok()) plain->document.problem = cut;
  return plain;
}

bool BeginsAsPickle(const InputFile& file) { return pickle::LooksLikePickle(file.plain_head); }

bool BeginsAsJson(const InputFile& file, char opening) {
  const size_t first = file.plain_head.find_first_not_of(" \t\r\n");
  return first != std::string::npos && file.plain_head[first] == opening;
}

}  // namespace tutti::collector::importers
