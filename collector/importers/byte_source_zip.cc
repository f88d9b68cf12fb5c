// The directory of a zip archive (PKWARE's APPNOTE.TXT 6.3, sections 4.3 and 4.5.3), with
// the 64-bit extension. Everything in it is checked against the file's size before use.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "collector/importers/byte_source_streams.h"

namespace tutti::collector::importers {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEndRecord = 0x06054b50;
constexpr uint32_t kEndRecord64 = 0x06064b50;
constexpr uint32_t kEndLocator64 = 0x07064b50;
constexpr size_t kLocalHeaderBytes = 30;
constexpr size_t kDirectoryEntryBytes = 46;
constexpr size_t kEndRecordBytes = 22;
constexpr size_t kEndLocator64Bytes = 20;
constexpr size_t kEndRecord64Bytes = 56;
constexpr int64_t kMaxCommentBytes = 65535;
constexpr int64_t kMaxDirectoryBytes = int64_t{64} << 20;
constexpr uint16_t kExtra64 = 0x0001;
constexpr uint32_t kIn64 = 0xffffffff;  // the value stands in the 64-bit extension

// A little-endian number; the caller has checked that it lies inside.
template <typename Number>
Number At(std::string_view bytes, size_t offset) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

Status Bad(const std::string& path, const char* what) {
  return BadDataError(path + ": not a readable zip archive: " + what);
}

Result<std::string> ReadAt(const std::string& path, int64_t offset, int64_t byte_count) {
  TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source,
                         OpenFileRange(path, offset, byte_count));
  std::string bytes(static_cast<size_t>(byte_count), '\0');
  size_t filled = 0;
  while (filled < bytes.size()) {
    TUTTI_ASSIGN_OR_RETURN(const size_t got,
                           source->Read(bytes.data() + filled, bytes.size() - filled));
    if (got == 0) return Bad(path, "cut off");
    filled += got;
  }
  return bytes;
}

struct Directory {
  int64_t offset = 0;
  int64_t byte_count = 0;
};

// The 64-bit end record, where the tail of the file points to one.
Result<std::optional<Directory>> FindDirectory64(const std::string& path, std::string_view tail,
                                                 size_t end_record, int64_t file_bytes) {
  if (end_record < kEndLocator64Bytes) return std::optional<Directory>();
  const std::string_view locator = tail.substr(end_record - kEndLocator64Bytes);
  if (At<uint32_t>(locator, 0) != kEndLocator64) return std::optional<Directory>();
  const auto offset = At<uint64_t>(locator, 8);
  if (offset > static_cast<uint64_t>(file_bytes) - kEndRecord64Bytes) {
    return Bad(path, "the 64-bit end record lies outside of it");
  }
  TUTTI_ASSIGN_OR_RETURN(const std::string record,
                         ReadAt(path, static_cast<int64_t>(offset), kEndRecord64Bytes));
  if (At<uint32_t>(record, 0) != kEndRecord64) return Bad(path, "no 64-bit end record");
  return std::optional<Directory>({At<int64_t>(record, 48), At<int64_t>(record, 40)});
}

// Absent where there is none: the end of the archive is missing.
Result<std::optional<Directory>> FindDirectory(const std::string& path, int64_t file_bytes) {
  const int64_t tail_bytes = std::min<int64_t>(
      file_bytes, kMaxCommentBytes + static_cast<int64_t>(kEndRecordBytes + kEndLocator64Bytes));
  TUTTI_ASSIGN_OR_RETURN(const std::string tail, ReadAt(path, file_bytes - tail_bytes, tail_bytes));
  for (size_t at = tail.size() < kEndRecordBytes ? 0 : tail.size() - kEndRecordBytes + 1; at > 0;
       --at) {
    const size_t record = at - 1;
    if (At<uint32_t>(tail, record) != kEndRecord) continue;
    TUTTI_ASSIGN_OR_RETURN(const std::optional<Directory> large,
                           FindDirectory64(path, tail, record, file_bytes));
    if (large) return large;
    return std::optional(
        Directory{At<uint32_t>(tail, record + 16), At<uint32_t>(tail, record + 12)});
  }
  return std::optional<Directory>();
}

// Takes the values that did not fit into 32 bits from the extra field, in its fixed order.
bool Widen(std::string_view extra, ZipMember& member) {
  int64_t* const targets[] = {&member.bytes, &member.compressed_bytes, &member.header_offset};
  while (extra.size() >= 4) {
    const auto id = At<uint16_t>(extra, 0);
    const size_t size = At<uint16_t>(extra, 2);
    if (size > extra.size() - 4) return false;
    std::string_view field = extra.substr(4, size);
    extra.remove_prefix(4 + size);
    if (id != kExtra64) continue;
    for (int64_t* target : targets) {
      if (*target != kIn64) continue;
      if (field.size() < 8) return false;
      *target = At<int64_t>(field, 0);
      field.remove_prefix(8);
    }
  }
  return member.bytes >= 0 && member.compressed_bytes >= 0 && member.header_offset >= 0;
}

// The entry at the start of `bytes` and its length there; absent if it is no entry.
std::optional<std::pair<ZipMember, size_t>> ParseEntry(std::string_view bytes) {
  if (bytes.size() < kDirectoryEntryBytes || At<uint32_t>(bytes, 0) != kDirectoryEntry) {
    return std::nullopt;
  }
  const size_t name_bytes = At<uint16_t>(bytes, 28);
  const size_t extra_bytes = At<uint16_t>(bytes, 30);
  const size_t length = kDirectoryEntryBytes + name_bytes + extra_bytes + At<uint16_t>(bytes, 32);
  if (length > bytes.size()) return std::nullopt;
  ZipMember member;
  member.is_encrypted = (At<uint16_t>(bytes, 8) & 1) != 0;
  member.method = At<uint16_t>(bytes, 10);
  member.crc32 = At<uint32_t>(bytes, 16);
  member.compressed_bytes = At<uint32_t>(bytes, 20);
  member.bytes = At<uint32_t>(bytes, 24);
  member.header_offset = At<uint32_t>(bytes, 42);
  member.name = bytes.substr(kDirectoryEntryBytes, name_bytes);
  if (!Widen(bytes.substr(kDirectoryEntryBytes + name_bytes, extra_bytes), member)) {
    return std::nullopt;
  }
  return std::pair(std::move(member), length);
}

// Where the data of a member begins, inside the file.
Result<int64_t> DataOffset(const std::string& path, const ZipMember& member, int64_t file_bytes) {
  const int64_t header_bytes = kLocalHeaderBytes;
  if (member.header_offset > file_bytes - header_bytes) {
    return Bad(path, "a member lies outside of it");
  }
  TUTTI_ASSIGN_OR_RETURN(const std::string header,
                         ReadAt(path, member.header_offset, header_bytes));
  if (At<uint32_t>(header, 0) != kLocalHeader) return Bad(path, "a member has no header");
  const int64_t offset =
      member.header_offset + header_bytes + At<uint16_t>(header, 26) + At<uint16_t>(header, 28);
  if (member.compressed_bytes > file_bytes - offset) {
    return Bad(path, "a member ends outside of it");
  }
  return offset;
}

// Where the next header of any kind begins, at or behind `from`; the file's end if none does.
Result<int64_t> NextHeader(const std::string& path, int64_t from, int64_t file_bytes) {
  constexpr int64_t kPieceBytes = int64_t{1} << 20;
  for (int64_t at = from; at < file_bytes; at += kPieceBytes - 3) {
    TUTTI_ASSIGN_OR_RETURN(const std::string piece,
                           ReadAt(path, at, std::min(kPieceBytes, file_bytes - at)));
    for (size_t k = piece.find("PK"); k != std::string::npos; k = piece.find("PK", k + 1)) {
      if (k + 4 > piece.size()) break;
      const auto signature = At<uint32_t>(piece, k);
      if (signature == kLocalHeader || signature == kDirectoryEntry) {
        return at + static_cast<int64_t>(k);
      }
    }
  }
  return file_bytes;
}

// The member whose local header begins at `offset`, `next` where the one after it does; absent
// where no header is.
Result<std::optional<ZipMember>> ReadLocalHeader(const std::string& path, int64_t offset,
                                                 int64_t file_bytes, int64_t& next) {
  constexpr int64_t kHeaderBytes = kLocalHeaderBytes;
  if (offset > file_bytes - kHeaderBytes) return std::optional<ZipMember>();
  TUTTI_ASSIGN_OR_RETURN(const std::string header, ReadAt(path, offset, kHeaderBytes));
  const int64_t name_bytes = At<uint16_t>(header, 26);
  const int64_t extra_bytes = At<uint16_t>(header, 28);
  const int64_t data = offset + kHeaderBytes + name_bytes + extra_bytes;
  if (At<uint32_t>(header, 0) != kLocalHeader || data > file_bytes) {
    return std::optional<ZipMember>();
  }
  TUTTI_ASSIGN_OR_RETURN(const std::string rest,
                         ReadAt(path, offset + kHeaderBytes, name_bytes + extra_bytes));
  const auto flags = At<uint16_t>(header, 6);
  ZipMember member;
  member.name = rest.substr(0, static_cast<size_t>(name_bytes));
  member.header_offset = offset;
  member.is_encrypted = (flags & 1) != 0;
  member.method = At<uint16_t>(header, 8);
  member.crc32 = At<uint32_t>(header, 14);
  member.compressed_bytes = At<uint32_t>(header, 18);
  member.bytes = At<uint32_t>(header, 22);
  if (!Widen(std::string_view(rest).substr(static_cast<size_t>(name_bytes)), member)) {
    return std::optional<ZipMember>();
  }
  // Sizes may stand behind the data instead (flag 8).
  member.is_checkable = (flags & 8) == 0 || member.compressed_bytes > 0;
  if (!member.is_checkable || member.compressed_bytes > file_bytes - data) {
    TUTTI_ASSIGN_OR_RETURN(next, NextHeader(path, data, file_bytes));
    member.compressed_bytes = next - data;
  }
  next = data + member.compressed_bytes;
  return std::optional(std::move(member));
}

// What an archive that lost its end still holds.
Result<ZipArchive> ListLocalHeaders(const std::string& path, int64_t file_bytes) {
  ZipArchive archive;
  archive.is_cut_off = true;
  for (int64_t offset = 0; archive.members.size() < kMaxZipMembers;) {
    TUTTI_ASSIGN_OR_RETURN(std::optional<ZipMember> member,
                           ReadLocalHeader(path, offset, file_bytes, offset));
    if (!member) break;
    if (!member->name.ends_with('/')) archive.members.push_back(std::move(*member));
  }
  if (archive.members.empty()) return Bad(path, "cut off: its directory is missing");
  return archive;
}

Result<std::unique_ptr<ByteSource>> Unpack(std::unique_ptr<ByteSource> packed, std::string name,
                                           int method, const ByteLimits& limits) {
  switch (method) {
    case 0:
      return packed;
    case 8:
      return MakeDeflateSource(std::move(packed), std::move(name), limits);
    case 93:
      return MakeZstdSource(std::move(packed), std::move(name), limits);
    default:
      return BadDataError(name + ": compressed by method " + std::to_string(method) +
                          ", which is not read here; unpack the archive first");
  }
}

Result<int64_t> ArchiveBytes(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t bytes, FileBytes(path));
  if (bytes < static_cast<int64_t>(kEndRecordBytes)) return Bad(path, "too short");
  return bytes;
}

}  // namespace

Result<ZipArchive> ListZip(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t file_bytes, ArchiveBytes(path));
  TUTTI_ASSIGN_OR_RETURN(const auto found, FindDirectory(path, file_bytes));
  if (!found) return ListLocalHeaders(path, file_bytes);
  const Directory& directory = *found;
  if (directory.offset < 0 || directory.byte_count < 0 || directory.offset > file_bytes ||
      directory.byte_count > file_bytes - directory.offset ||
      directory.byte_count > kMaxDirectoryBytes) {
    return Bad(path, "its directory lies outside of it");
  }
  TUTTI_ASSIGN_OR_RETURN(const std::string bytes,
                         ReadAt(path, directory.offset, directory.byte_count));
  ZipArchive archive;
  for (std::string_view left = bytes; !left.empty();) {
    auto entry = ParseEntry(left);
    if (!entry) return Bad(path, "its directory is damaged");
    left.remove_prefix(entry->second);
    if (entry->first.name.ends_with('/')) continue;
    if (archive.members.size() == kMaxZipMembers) return Bad(path, "too many members");
    archive.members.push_back(std::move(entry->first));
  }
  return archive;
}

Result<std::unique_ptr<ByteSource>> OpenZipMember(const std::string& path, const ZipMember& member,
                                                  const ByteLimits& limits) {
  const std::string name = path + ": " + member.name;
  if (member.is_encrypted) return BadDataError(name + ": encrypted; unpack the archive first");
  TUTTI_ASSIGN_OR_RETURN(const int64_t file_bytes, ArchiveBytes(path));
  TUTTI_ASSIGN_OR_RETURN(const int64_t offset, DataOffset(path, member, file_bytes));
  TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> packed,
                         OpenFileRange(path, offset, member.compressed_bytes));
  TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes,
                         Unpack(std::move(packed), name, member.method, limits));
  if (member.is_checkable) {
    bytes = MakeCheckedSource(std::move(bytes), name, member.bytes, member.crc32);
  }
  return UnpackNested(std::move(bytes), name, member.compressed_bytes, limits);
}

}  // namespace tutti::collector::importers
