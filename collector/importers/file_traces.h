// The traces that the import of one file makes or adds to. Several files may be imported at
// once, each by a thread of its own; those that add to traces of other files one after another.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "collector/importers/importer.h"
#include "collector/importers/trace_pool.h"
#include "common/status.h"

namespace tutti::collector::importers {

class FileTraces final : public ImportTarget {
 public:
  // `number` tells the files of one import apart. `pool` outlives this.
  FileTraces(TracePool& pool, const Importer& importer, size_t number)
      : pool_(pool), format_(importer.format()), number_(number) {}

  // The importer is done with the file. Keeps what was made of it, or drops the new traces;
  // traces that were added to keep what was added: rows are committed as they come.
  Status Close(bool keep);
  // Hands the new traces to the pool, in the thread of the pool.
  void MoveToPool() { pool_.Add(std::exchange(new_, {})); }

  Result<TraceSink*> NewTrace(const InputFile& file) override;
  Result<TraceSink*> TraceOf(int64_t rank, const InputFile& file) override;
  Result<TraceSink*> OnlyTrace() override;
  bool HasTraceOf(int64_t rank) const override { return pool_.Find(rank, format_) != nullptr; }
  void Tell(std::string message) override { messages_.push_back(std::move(message)); }

  // What the importer told.
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  // Opens a trace of the pool to add rows of this file to.
  Result<TraceSink*> AddTo(PooledTrace& trace);

  TracePool& pool_;
  std::string format_;
  size_t number_;
  std::vector<PooledTrace> new_;
  std::vector<TraceSink*> added_to_;
  std::vector<std::string> messages_;
};

}  // namespace tutti::collector::importers
