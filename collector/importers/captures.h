// Whether the files of an import can be of one run: copies of one file, and captures that were
// put into one folder, are told apart from ranks of one job.
// Pure functions, but for HaveEqualContent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::collector::importers {

// What a file tells of the trace in it.
struct CaptureClaim {
  std::optional<int64_t> rank = {};
  bool is_told_inside = false;  // the rank is; else the file's name tells it
  std::optional<int64_t> world_size = {};
  std::string path = {};
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
  std::optional<int64_t> pid = {};
  std::string host = {};
  std::optional<int64_t> first_step = {};  // the lowest number of its steps
  std::optional<int64_t> last_step = {};   // the highest
};

// One plain line that names the runs, or "" where the traces may be of one. Several traces of one
// rank are no proof: a restarted process has two. What is: each folder (or all files with names
// that differ in the rank alone) is a set of different ranks, and ranks that are in two say so
// themselves or were traced at different times; every rank was traced several times, one after
// another; two files tell different sizes of the job; no trace says its rank, and no two of them
// have a moment in common.
std::string WhySeveralRuns(const std::vector<CaptureClaim>& claims);

// The ranks that folders tell ("rank_3/trace.json"), by place in `claims`, where no file tells
// its own. Nothing for any unless the folders tell all of those apart.
std::vector<std::optional<int64_t>> RanksFromFolders(const std::vector<CaptureClaim>& claims);

// Whether what two files tell is the same, so that it is worth to compare them; `copy` is that
// with the longer name.
bool LooksLikeCopy(const CaptureClaim& copy, const CaptureClaim& original);
// Whether two files hold the same once unpacked. False where one can't be read or is an archive.
bool HaveEqualContent(const std::string& a, const std::string& b);

}  // namespace tutti::collector::importers
