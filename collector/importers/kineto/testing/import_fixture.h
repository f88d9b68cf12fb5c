// Imports a Chrome trace into a scratch folder and queries what became of it. For tests.
#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/importers/kineto/kineto_importer.h"
#include "gtest/gtest.h"
#include "schema/database.h"
#include "schema/testing/scratch.h"

namespace tutti::collector::importers::kineto::testing {

class KinetoTest : public ::testing::Test, private ImportTarget {
 protected:
  // Imports the file; each trace of it becomes a database. Queries go to the first.
  Status ImportFile(const std::string& path) {
    databases_.clear();
    sinks_.clear();
    const Status read = Read(path);
    if (!read.ok()) return read;
    for (const auto& sink : sinks_) {
      TUTTI_RETURN_IF_ERROR(sink->Finish(0));
      TUTTI_ASSIGN_OR_RETURN(schema::Database database,
                             schema::Database::OpenReadOnly(sink->path()));
      databases_.push_back(std::make_unique<schema::Database>(std::move(database)));
    }
    return OkStatus();
  }

  // The same of a text.
  void ImportText(const std::string& json) {
    const std::string path = scratch_.Path("trace" + std::to_string(++files_) + ".json");
    std::ofstream(path, std::ios::binary) << json;
    const Status imported = ImportFile(path);
    ASSERT_TRUE(imported.ok()) << imported.message();
  }
  void ImportEvents(const std::string& events) { ImportText("{\"traceEvents\":[" + events + "]}"); }

  int64_t Number(const std::string& sql) {
    const auto number = databases_.front()->QueryOne<std::optional<int64_t>>(sql);
    if (!number.ok()) ADD_FAILURE() << sql << ": " << number.status().message();
    return number.ok() ? number->value_or(0) : 0;
  }
  std::string Text(const std::string& sql) {
    const auto text = databases_.front()->QueryOne<std::optional<std::string>>(sql);
    if (!text.ok()) ADD_FAILURE() << sql << ": " << text.status().message();
    return text.ok() ? text->value_or("NULL") : "";
  }
  int64_t Count(const std::string& table) { return Number("SELECT count(*) FROM " + table); }
  // How often an oddity was counted.
  int64_t Odd(const std::string& name) {
    return Number("SELECT sum(count) FROM trace_stat WHERE name = '" + name + "'");
  }

  TraceSink& sink() { return *sinks_.front(); }
  size_t traces() const { return databases_.size(); }
  void UseTrace(size_t trace) { std::swap(databases_.front(), databases_[trace]); }
  std::string ScratchPath(const std::string& name) const { return scratch_.Path(name); }

 private:
  Status Read(const std::string& path) {
    InputFile file;
    file.path = path;
    file.name = path;
    TUTTI_ASSIGN_OR_RETURN(file.plain_head, ReadHead(path, kHeadBytes));
    std::ifstream stream(path, std::ios::binary);
    file.head.resize(4);
    stream.read(file.head.data(), 4);
    file.head.resize(static_cast<size_t>(stream.gcount()));
    stream.clear();
    file.bytes = stream.seekg(0, std::ios::end).tellg();
    if (!KinetoImporter().Recognizes(file)) return BadDataError("not recognized");
    return KinetoImporter().Import(file, *this);
  }
  Result<TraceSink*> NewTrace(const InputFile&) override {
    TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<TraceSink> trace,
                           TraceSink::Create(scratch_.Path("t" + std::to_string(++files_))));
    sinks_.push_back(std::move(trace));
    return sinks_.back().get();
  }
  Result<TraceSink*> TraceOf(int64_t, const InputFile& file) override { return NewTrace(file); }

  schema::testing::Scratch scratch_;
  int files_ = 0;
  std::vector<std::unique_ptr<TraceSink>> sinks_;
  std::vector<std::unique_ptr<schema::Database>> databases_;
};

}  // namespace tutti::collector::importers::kineto::testing
