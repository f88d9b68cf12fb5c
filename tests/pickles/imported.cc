#include "tests/pickles/imported.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analyzer/analyze.h"
#include "collector/import.h"
#include "schema/database.h"

namespace tutti::pickles {
namespace {

std::string TextOf(const schema::NullableValue& value) {
  if (!value) return "";
  if (const auto* number = std::get_if<int64_t>(&*value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&*value)) return *text;
  return std::to_string(std::get<double>(*value));
}

std::string QueryFile(const std::string& path, const std::string& sql) {
  auto database = schema::Database::OpenTrusted(path);
  if (!database.ok()) return database.status().message();
  auto statement = database->Prepare(sql);
  if (!statement.ok()) return statement.status().message();
  std::string text;
  for (;;) {
    const Result<bool> has_row = statement->Step();
    if (!has_row.ok()) return has_row.status().message();
    if (!*has_row) return text;
    if (!text.empty()) text += '\n';
    for (int column = 0; column < statement->column_count(); ++column) {
      text += (column == 0 ? "" : "|") + TextOf(statement->GetAny(column));
    }
  }
}

}  // namespace

std::string SharedFolder() {
  const char* const chosen = std::getenv("TUTTI_SHARED");
  const std::string folder =
      chosen != nullptr ? chosen : std::string(TUTTI_SOURCE_DIR) + "/../shared";
  return std::filesystem::is_directory(folder + "/cases") ? folder : "";
}

nlohmann::json Count(const std::string& kind, const std::string& file) {
  const std::string command = "python3 '" + std::string(TUTTI_SOURCE_DIR) +
                              "/tests/pickles/count.py' " + kind + " '" + file + "'";
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  char piece[4096];
  for (size_t size = 0;
       pipe != nullptr && (size = std::fread(piece, 1, sizeof(piece), pipe)) > 0;) {
    output.append(piece, size);
  }
  EXPECT_TRUE(pipe != nullptr && ::pclose(pipe) == 0) << command;
  return nlohmann::json::parse(output, nullptr, false);
}

nlohmann::json FactsOf(const std::string& case_folder) {
  std::ifstream file(case_folder + "/expected.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const size_t begin = all.find("```json");
  const size_t end = all.find("```", begin + 7);
  EXPECT_NE(end, std::string::npos) << case_folder;
  return nlohmann::json::parse(all.substr(begin + 7, end - begin - 7), nullptr, false);
}

Imported::Imported(const std::vector<std::string>& inputs) {
  collector::ImportOptions options;
  options.inputs = inputs;
  options.output = scratch_.Path("run");
  const Result<collector::ImportReport> report = collector::Import(options);
  if (!report.ok()) {
    error_ = report.status().message();
    return;
  }
  messages_ = report->messages;
  run_ = report->run_path;
  for (const collector::ImportedTrace& trace : report->traces) {
    files_.push_back(run_ + "/" + trace.file);
  }
}

std::string Imported::Query(size_t trace, const std::string& sql) const {
  return QueryFile(files_.at(trace), sql);
}

void Imported::Analyze() {
  if (!analysis_.empty()) return;
  const Result<analyzer::Analysis> analysis = analyzer::Analyze(run_, {});
  ASSERT_TRUE(analysis.ok()) << analysis.status().message();
  analysis_ = analysis->path;
}

std::string Imported::Derived(const std::string& sql) {
  Analyze();
  return QueryFile(analysis_, sql);
}

std::string Imported::Report() {
  Analyze();
  const Result<std::string> text = analyzer::RenderReport(analysis_, {});
  return text.ok() ? *text : text.status().message();
}

}  // namespace tutti::pickles
