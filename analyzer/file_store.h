// Finished ranks of one stretch of passes as files of a folder, one each, renamed when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/shard.h"
#include "common/status.h"

namespace tutti::analyzer {

class FileStore : public ShardStore {
 public:
  // `folder` exists; `key` tells what the rows are made from: kept rows of another key are
  // as if there were none.
  FileStore(std::string folder, std::string key, size_t first_pass);
  std::optional<Kept> Load(int64_t rank) override;
  Status Save(int64_t rank, const Kept& kept) override;
  int64_t loaded() const { return loaded_; }

 private:
  std::string PathOf(int64_t rank) const;
  std::string folder_;
  std::string key_;
  size_t first_pass_;
  int64_t loaded_ = 0;
};

// What the rows of an analysis of these files depend on: the analyzer, the options, every file.
std::string StoreKey(const RunFiles& files, const std::string& options);

}  // namespace tutti::analyzer
