// An export made of SQL, imported, and the traces that came of it. For tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/importers/nsys/nsys_importer.h"
#include "schema/database.h"
#include "schema/testing/scratch.h"

namespace tutti::collector::importers::nsys::testing {

// Gives out traces in a folder.
class FolderTarget : public ImportTarget {
 public:
  explicit FolderTarget(const schema::testing::Scratch& scratch) : scratch_(scratch) {}

  Result<TraceSink*> NewTrace(const InputFile&) override {
    const std::string path = scratch_.Path("trace-" + std::to_string(sinks_.size()) + ".sqlite");
    TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<TraceSink> sink, TraceSink::Create(path));
    sinks_.push_back(std::move(sink));
    return sinks_.back().get();
  }
  Result<TraceSink*> TraceOf(int64_t, const InputFile& file) override { return NewTrace(file); }

  std::vector<std::unique_ptr<TraceSink>>& sinks() { return sinks_; }

 private:
  const schema::testing::Scratch& scratch_;
  std::vector<std::unique_ptr<TraceSink>> sinks_;
};

class NsysTest : public ::testing::Test {
 protected:
  // Executes |sql| in a new database.
  std::string MakeDatabase(const std::string& sql) {
    std::string path = scratch_.Path("export-" + std::to_string(databases_++) + ".sqlite");
    Result<schema::Database> database = schema::Database::Create(path);
    EXPECT_TRUE(database.ok()) << database.status().message();
    const Status made = database->Execute(sql);
    EXPECT_TRUE(made.ok()) << made.message();
    return path;
  }

  static InputFile FileAt(const std::string& path) {
    InputFile file;
    file.path = path;
    file.name = path;
    std::ifstream stream(path, std::ios::binary);
    std::string head(kHeadBytes, '\0');
    stream.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<size_t>(stream.gcount()));
    stream.clear();
    stream.seekg(0, std::ios::end);
    file.bytes = stream.tellg();
    file.head = head;
    file.plain_head = head;
    return file;
  }

  // Imports the file; traces() are open afterwards.
  Status Import(const std::string& path) {
    const Status status = importer_.Import(FileAt(path), target_);
    if (!status.ok()) return status;
    while (traces_.size() < target_.sinks().size()) {
      TraceSink& sink = *target_.sinks()[traces_.size()];
      TUTTI_RETURN_IF_ERROR(sink.Finish(0));
      TUTTI_ASSIGN_OR_RETURN(schema::Database trace, schema::Database::OpenTrusted(sink.path()));
      traces_.push_back(std::move(trace));
    }
    return OkStatus();
  }
  void ImportSql(const std::string& sql) {
    const Status status = Import(MakeDatabase(sql));
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_FALSE(traces_.empty());
  }

  size_t trace_count() const { return traces_.size(); }
  const TraceIdentity& IdentityOf(size_t trace) { return target_.sinks()[trace]->identity; }

  // Result of a query for one number or text of a trace.
  int64_t Number(const std::string& sql, size_t trace = 0) {
    if (trace >= traces_.size()) {
      ADD_FAILURE() << "no trace " << trace;
      return -1;
    }
    const Result<int64_t> value = traces_[trace].QueryOne<int64_t>(sql);
    EXPECT_TRUE(value.ok()) << sql << ": " << value.status().message();
    return value.ok() ? *value : -1;
  }
  std::string Text(const std::string& sql, size_t trace = 0) {
    if (trace >= traces_.size()) {
      ADD_FAILURE() << "no trace " << trace;
      return "";
    }
    const Result<std::string> value = traces_[trace].QueryOne<std::string>(sql);
    EXPECT_TRUE(value.ok()) << sql << ": " << value.status().message();
    return value.ok() ? *value : "";
  }
  // How many of what a name of trace_stat counts.
  int64_t Counted(const std::string& name, size_t trace = 0) {
    return Number("SELECT coalesce(sum(count), 0) FROM trace_stat WHERE name = '" + name + "'",
                  trace);
  }

  schema::testing::Scratch scratch_;
  NsysImporter importer_;
  FolderTarget target_{scratch_};
  std::vector<schema::Database> traces_;
  int databases_ = 0;
};

// Ids as Nsight serializes them.
constexpr int64_t GlobalPid(int64_t pid, int64_t machine = 1) { return machine << 48 | pid << 24; }
constexpr int64_t GlobalTid(int64_t pid, int64_t tid, int64_t machine = 1) {
  return GlobalPid(pid, machine) | tid;
}

}  // namespace tutti::collector::importers::nsys::testing
