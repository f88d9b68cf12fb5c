#include "collector/importers/kineto/kineto_importer.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collector/importers/byte_source_streams.h"
#include "collector/importers/kineto/event_rows.h"
#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/number.h"
#include "collector/importers/kineto/trace_reader.h"
#include "collector/os/interruption.h"

namespace tutti::collector::importers {
namespace kineto {
namespace {

using Open = std::function<Result<std::unique_ptr<ByteSource>>()>;

constexpr std::string_view kBaseTime = "\"baseTimeNanoseconds\"";
constexpr size_t kTailBytes = size_t{1} << 20;
constexpr size_t kPieceBytes = size_t{256} << 10;

// The last `kTailBytes` or so of a stream.
Result<std::string> ReadTail(ByteSource& source) {
  std::string tail;
  std::string piece(kPieceBytes, '\0');
  while (true) {
    const Result<size_t> got = source.Read(piece.data(), piece.size());
    if (!got.ok() && source.refused()) return got.status();
    if (!got.ok() || *got == 0) return tail;  // what is damaged is told when it is read
    if (tail.size() + *got > 2 * kTailBytes) tail.erase(0, tail.size() - kTailBytes);
    tail.append(piece, 0, *got);
  }
}

// The base of all times must be known before the first event, and may stand behind the
// last: beginning and end of the text are looked at first. Elsewhere it is found in time
// as well, at the cost of moving what was written.
Result<int64_t> BaseTimeOf(std::string_view head, const Open& open) {
  if (const auto base = FindBaseTime(head.substr(0, head.find("\"traceEvents\"")))) return *base;
  TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, open());
  TUTTI_ASSIGN_OR_RETURN(const std::string tail, ReadTail(*source));
  return FindBaseTime(tail).value_or(0);
}

Status ImportStream(const InputFile& file, std::string_view head, const Open& open_tail,
                    const Open& open, ImportTarget& target) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t base_ns, BaseTimeOf(head, open_tail));
  TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, open());
  TUTTI_ASSIGN_OR_RETURN(TraceSink * sink, target.NewTrace(file));
  schema::ImportSourceRow row;
  row.path = file.name;
  row.format = "kineto";
  row.bytes = file.bytes;
  sink->sources.push_back(std::move(row));
  const Status read = ReadTrace(*source, base_ns, *sink);
  if (read.ok() || read.message().starts_with(file.path)) return read;
  return {read.code(), file.name + ": " + read.message()};
}

// The beginning of a member, as far as it can be read; not ok where nothing of it can.
Result<std::string> HeadOf(const std::string& path, const ZipMember& member) {
  TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenZipMember(path, member));
  std::string head(kHeadBytes, '\0');
  size_t filled = 0;
  while (filled < head.size()) {
    const Result<size_t> got = source->Read(head.data() + filled, head.size() - filled);
    if (!got.ok() && (filled == 0 || source->refused())) return got.status();
    if (!got.ok() || *got == 0) break;
    filled += *got;
  }
  head.resize(filled);
  return head;
}

// The first member of an archive may be a read-me.
bool ArchiveHasTrace(const std::string& path) {
  constexpr size_t kMostLookedAt = 100;
  const Result<ZipArchive> archive = ListZip(path);
  if (!archive.ok()) return false;
  for (size_t i = 0; i < std::min(archive->members.size(), kMostLookedAt); ++i) {
    const Result<std::string> head = HeadOf(path, archive->members[i]);
    if (head.ok() && LooksLikeTrace(*head)) return true;
  }
  return false;
}

Status ImportArchive(const InputFile& file, ImportTarget& target) {
  TUTTI_ASSIGN_OR_RETURN(const ZipArchive archive, ListZip(file.path));
  int traces = 0;
  for (const ZipMember& member : archive.members) {
    const Result<std::string> head = HeadOf(file.path, member);
    // It may have been a trace: half of a job's ranks must not look like all of them.
    if (!head.ok()) target.Tell(head.status().message() + "; this member is left out");
    if (!head.ok() || !LooksLikeTrace(*head)) continue;
    const Open open = [&] { return OpenZipMember(file.path, member); };
    const InputFile unpacked{
        .path = file.path, .name = file.name + "!" + member.name, .bytes = member.bytes};
    TUTTI_RETURN_IF_ERROR(ImportStream(unpacked, *head, open, open, target));
    ++traces;
  }
  if (archive.is_cut_off) {
    target.Tell(file.name + ": the archive is cut off; " + std::to_string(archive.members.size()) +
                (archive.members.size() == 1 ? " file was" : " files were") +
                " found in it, the last may be incomplete, later ones are lost");
  }
  if (traces == 0) return BadDataError(file.name + ": no trace is in this archive");
  return OkStatus();
}

}  // namespace

bool LooksLikeTrace(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  head.remove_prefix(SkipSpace(head, 0));
  if (head.empty() || (head.front() != '[' && head.front() != '{')) return false;
  // All that a writer left that was killed at once.
  if (head.front() == '[' && SkipSpace(head, 1) == head.size()) return true;
  for (const std::string_view key : {"\"traceEvents\"", "\"schemaVersion\"", "\"ph\""}) {
    if (head.find(key) != std::string_view::npos) return true;
  }
  return false;
}

std::optional<int64_t> FindBaseTime(std::string_view text) {
  std::optional<int64_t> base_ns;
  for (size_t at = text.find(kBaseTime); at != std::string_view::npos;
       at = text.find(kBaseTime, at + 1)) {
    size_t value = SkipSpace(text, at + kBaseTime.size());
    if (value == text.size() || text[value] != ':') continue;
    value = SkipSpace(text, value + 1);
    const size_t end = text.find_first_of(",} \r\n\t", value);
    if (end == std::string_view::npos) continue;
    if (const auto number = ParseInteger(text.substr(value, end - value))) base_ns = number;
  }
  return base_ns;
}

Status ReadTrace(ByteSource& source, int64_t base_ns, TraceSink& sink) {
  EventRows rows(sink, base_ns);
  TraceReader reader(source, rows);
  const Status read = reader.Read();
  TUTTI_RETURN_IF_ERROR(os::Interruption::Check());
  if (!read.ok() && source.refused()) return read;
  Context& context = rows.context();
  if (!read.ok()) context.ledger.Count(odd::kDamaged, reader.bytes(), {}, 1, read.message());
  if (reader.documents() > 1) {
    context.ledger.Count(odd::kSeveralDocuments, -1, {}, reader.documents());
  }
  TUTTI_RETURN_IF_ERROR(rows.Finish());
  schema::ImportSourceRow& row = sink.sources.back();
  row.format_version = rows.keys().format_version();
  if (const std::string producer = rows.keys().Producer(); !producer.empty()) {
    row.producer = producer;
  }
  row.events_read = context.events_read;
  row.events_skipped = context.events_skipped;
  return sink.status();
}

}  // namespace kineto

bool KinetoImporter::Recognizes(const InputFile& file) const {
  if (PackingOf(file.head.data(), file.head.size()) != Packing::kZip) {
    return kineto::LooksLikeTrace(file.plain_head);
  }
  return kineto::LooksLikeTrace(file.plain_head) || kineto::ArchiveHasTrace(file.path);
}

Status KinetoImporter::Import(const InputFile& file, ImportTarget& target) const {
  if (PackingOf(file.head.data(), file.head.size()) == Packing::kZip) {
    return kineto::ImportArchive(file, target);
  }
  const kineto::Open open = [&] { return OpenBytes(file.path); };
  const bool is_packed = PackingOf(file.head.data(), file.head.size()) != Packing::kPlain;
  const kineto::Open open_tail = [&]() -> Result<std::unique_ptr<ByteSource>> {
    if (is_packed) return open();
    const auto tail = static_cast<int64_t>(kineto::kTailBytes);
    return OpenFileRange(file.path, std::max<int64_t>(file.bytes - tail, 0), -1);
  };
  return kineto::ImportStream(file, file.plain_head, open_tail, open, target);
}

}  // namespace tutti::collector::importers
