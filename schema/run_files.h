// Which files a run consists of, told by their names alone (no file is opened):
//
//   RUN/rank-00007.sqlite            a rank's first attempt; `.part` while it is written
//   RUN/attempt-1/rank-00007.sqlite  a later attempt of an elastic job
//   RUN/run.sqlite                   the derived tables, once the run was analyzed
//
// A `.part` file counts only where the finished one does not exist. Of a single trace
// file, the derived tables are in FILE.run.sqlite. Callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::schema {

struct RankFile {
  std::string path;
  std::optional<int64_t> rank = {};  // empty: neither name nor (single files) content tells
  int64_t attempt = 0;
  bool is_part = false;  // its writer is at work, or was killed
  friend bool operator==(const RankFile&, const RankFile&) = default;
};

struct RunFileSet {
  std::vector<RankFile> ranks;  // by rank, then attempt
  std::string derived;          // path of the derived tables, empty where there are none
};

// Files of a run's folder. kNotFound if there is no such folder or no trace in it.
Result<RunFileSet> FindRunFiles(const std::string& folder);

// What a file's name tells; nullopt for names that are no rank file's.
std::optional<RankFile> RankFileFromName(const std::string& path);

}  // namespace tutti::schema
