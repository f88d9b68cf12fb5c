// A run as one database: one connection on which each raw table of all rank files is one
// table with `rank` and `attempt` in front, each view the same, and the derived tables of
// run.sqlite stand beside them.
//
//   Result<RunView> run = RunView::Open("runs/a");
//   run->database().Prepare("SELECT rank, count(*) FROM v_step GROUP BY rank")
//
// Files may come from anywhere (they are opened as OpenReadOnly does), nothing can be
// written, and any number of ranks takes a bounded number of open files. Restricting a
// query by rank opens only those files; comparisons are made inside the files. There are
// no indexes but the primary keys: join large tables through a materialized CTE.
// Not thread-safe; statements must not outlive the RunView.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "common/status.h"
#include "schema/database.h"
#include "schema/run_files.h"

namespace tutti::schema {

struct RunSource;

struct RunViewOptions {
  size_t max_idle_files = 32;  // kept open between uses
};

class RunView {
 public:
  // A run's folder, one rank's file, or one file of derived tables. Files are opened when
  // a query needs them, so a damaged one is an error of that query.
  static Result<RunView> Open(const std::string& run_or_file, RunViewOptions options = {});
  ~RunView();
  RunView(RunView&&) noexcept;
  RunView& operator=(RunView&&) = delete;

  Database& database() { return database_; }
  const RunFileSet& files() const;
  size_t open_files() const;

 private:
  RunView(std::unique_ptr<RunSource> source, Database database);

  std::unique_ptr<RunSource> source_;  // outlives the connection
  Database database_;
};

}  // namespace tutti::schema
