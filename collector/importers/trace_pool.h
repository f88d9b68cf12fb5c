// The traces of one import, kept in a directory of their own until all are complete and
// it is known which rank each is. One thread.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/import.h"
#include "collector/importers/importer.h"
#include "common/status.h"

namespace tutti::collector::importers {

class TracePool final : public ImportTarget {
 public:
  // `directory` exists and is empty.
  explicit TracePool(std::string directory) : directory_(std::move(directory)) {}

  // Around each file: until FileDone, what is made belongs to `importer`'s work on it.
  void BeginFile(const Importer& importer) { importer_ = &importer; }
  // `kept` false: drops the new traces of the file. Traces that were added to keep what was
  // added: rows are committed as they come.
  Status FileDone(bool kept);

  Result<TraceSink*> NewTrace(const InputFile& file) override;
  Result<TraceSink*> TraceOf(int64_t rank, const InputFile& file) override;
  bool HasTraceOf(int64_t rank) const override;
  void Tell(std::string message) override { messages_.push_back(std::move(message)); }

  // Says which rank each trace is that has none yet.
  void Assign();
  // Completes all traces as files of the run at `run_path`; what became of each, by rank.
  Result<std::vector<ImportedTrace>> Publish(const std::string& run_path);

  bool empty() const { return traces_.empty(); }
  // What importers told, since the last call.
  std::vector<std::string> TakeMessages() { return std::exchange(messages_, {}); }

 private:
  struct Trace {
    std::unique_ptr<TraceSink> sink;
    std::string file_name;  // of its first file
    bool is_assigned = false;
    bool is_assumed = false;
    bool is_conflict = false;
    std::set<std::string> formats;
    bool touched = false;  // by the file that is being imported
    bool is_new = false;   // made for it
  };
  static bool IsOf(const Trace& trace, int64_t rank) {
    return trace.is_assigned && !trace.is_conflict && !trace.is_assumed &&
           trace.sink->identity.rank == rank;
  }
  ImportedTrace Describe(const Trace& trace) const;

  std::string directory_;
  const Importer* importer_ = nullptr;
  std::vector<Trace> traces_;
  size_t next_number_ = 0;
  std::vector<std::string> messages_;
};

}  // namespace tutti::collector::importers
