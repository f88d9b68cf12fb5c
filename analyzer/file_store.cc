#include "analyzer/file_store.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "analyzer/sources_hash.h"
#include "schema/row_pack.h"

namespace tutti::analyzer {

FileStore::FileStore(std::string folder, std::string key, size_t first_pass)
    : folder_(std::move(folder)), key_(std::move(key)), first_pass_(first_pass) {}

std::string FileStore::PathOf(int64_t rank) const {
  return folder_ + "/pass-" + std::to_string(first_pass_) + "-rank-" + std::to_string(rank);
}

std::optional<ShardStore::Kept> FileStore::Load(int64_t rank) {
  std::ifstream file(PathOf(rank), std::ios::binary);
  if (!file) return {};
  std::ostringstream content;
  content << file.rdbuf();
  const std::string bytes = content.str();
  schema::Unpacker unpacker(bytes);
  const Result<std::string_view> key = unpacker.Text();
  if (!key.ok() || *key != key_) return {};
  Result<ShardRows> rows = TakeShardRows(unpacker);
  Result<BadOfRank> bad = rows.ok() ? TakeBadOfRank(unpacker) : rows.status();
  if (!bad.ok() || !unpacker.at_end()) return {};
  ++loaded_;
  return Kept{std::move(*rows), std::move(*bad)};
}

Status FileStore::Save(int64_t rank, const Kept& kept) {
  schema::Packer packer;
  packer.Add(key_);
  AddShardRows(packer, kept.rows);
  AddBadOfRank(packer, kept.bad);
  const std::string temporary = PathOf(rank) + "." + std::to_string(getpid()) + ".tmp";
  std::ofstream file(temporary, std::ios::binary);
  file << packer.bytes();
  file.close();
  if (!file || std::rename(temporary.c_str(), PathOf(rank).c_str()) != 0) {
    return IoError(temporary + ": " + std::strerror(errno));
  }
  return OkStatus();
}

std::string StoreKey(const RunFiles& files, const std::string& options) {
  schema::Packer packer;
  packer.Add(kSourcesHash);
  packer.Add(options);
  for (const TraceFile& file : files.traces) {
    packer.Add(file.name);
    packer.Add(file.bytes);
    packer.Add(file.mtime_ns);
    packer.Add(file.unusable_because);
  }
  return packer.bytes();
}

}  // namespace tutti::analyzer
