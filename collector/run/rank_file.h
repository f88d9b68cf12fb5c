// Names of rank files in a run directory, and taking one: rank-00007.sqlite, for later
// attempts attempt-1/rank-00007.sqlite; while being written with ".part" behind it.
// A name that exists in any form is never taken again, by whichever recorder of the run.
// Callable from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/status.h"
#include "schema/writer.h"

namespace tutti::collector::run {

// Path relative to the run directory.
std::string RankFileName(int32_t rank, int32_t attempt);

struct OpenRankFile {
  std::string name;  // relative, without ".part"
  int32_t attempt;   // the one asked for, or the next that was free
  std::unique_ptr<schema::TraceWriter> writer;
};

// Creates the first file that is free, from |attempt| upwards.
Result<OpenRankFile> CreateRankFile(const std::string& run_path, int32_t rank, int32_t attempt);

// Creates the ".part" of a name that is ours already, over what an earlier try left.
Result<OpenRankFile> RecreateRankFile(const std::string& run_path, const std::string& name,
                                      int32_t attempt);

// Removes a ".part" with what SQLite keeps beside it.
void RemovePart(const std::string& run_path, const std::string& name);

// Gives a finalised file its final name; kIo if something has it.
Status PublishRankFile(const std::string& run_path, const std::string& name);

}  // namespace tutti::collector::run
