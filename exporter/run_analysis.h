// What the derived tables of a run say about the traces that are being exported. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "schema/database.h"

namespace tutti::exporter {

class RunAnalysis {
 public:
  // |path| of run.sqlite.
  static Result<RunAnalysis> Open(const std::string& path);

  struct Rank {
    int64_t rank = 0;
    int64_t clock_offset_ns = 0;
  };
  // The rank that the trace at |path| was analyzed as; nothing for one that is not used.
  std::optional<Rank> Find(const std::string& path) const;

  schema::Database& database() { return database_; }

 private:
  struct Used {
    std::string path;  // as input_file has it
    Rank rank;
  };
  RunAnalysis(schema::Database database, std::vector<Used> used)
      : database_(std::move(database)), used_(std::move(used)) {}

  schema::Database database_;
  std::vector<Used> used_;
};

}  // namespace tutti::exporter
