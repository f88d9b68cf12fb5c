// The traces of one import, kept in a directory of their own until all are complete and
// it is known which rank each is. One thread.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/import.h"
#include "collector/importers/captures.h"
#include "collector/importers/trace_sink.h"
#include "common/status.h"

namespace tutti::collector::importers {

struct PooledTrace {
  std::unique_ptr<TraceSink> sink;
  std::string file_name;  // of its first file
  std::set<std::string> formats = {};
  bool is_assigned = false;
  bool is_assumed = false;
  bool is_conflict = false;
};

class TracePool {
 public:
  // `directory` exists and is empty.
  explicit TracePool(std::string directory) : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }

  // Takes over traces that a file made; they are suspended.
  void Add(std::vector<PooledTrace> traces);
  // The trace of a rank that no file of `format` told of, to add to; nullptr if there is none.
  PooledTrace* Find(int64_t rank, const std::string& format);

  // The trace, if there is just one and no file of `format` told of it; else nullptr.
  PooledTrace* Only(const std::string& format);

  // Leaves out traces that were made of copies of a file that another was made of; a line each.
  Result<std::vector<std::string>> DropCopies();
  // Joins traces of one process that were captured one after another; a line about them.
  Result<std::vector<std::string>> JoinWindows();
  // Gives ranks of replicas that each count from 0 numbers of their own; a line about it, or none.
  Result<std::vector<std::string>> PlaceReplicas();
  // As the user says: traces that tell no rank are `first` and those that follow it, in order,
  // ranks that others tell left out.
  void AssumeRanks(int64_t first);
  // Why the traces can't be of one run, one plain line; "" if they can.
  std::string WhySeveralRuns() const;

  // Says which rank each trace is that has none yet.
  void Assign();
  // Completes all traces as files of the run at `run_path`; what became of each, by rank.
  Result<std::vector<ImportedTrace>> Publish(const std::string& run_path);

  bool empty() const { return traces_.empty(); }

 private:
  ImportedTrace Describe(const PooledTrace& trace) const;
  std::vector<CaptureClaim> Claims() const;
  void Drop(const std::vector<bool>& dropped);

  std::string directory_;
  std::vector<PooledTrace> traces_;
};

}  // namespace tutti::collector::importers
