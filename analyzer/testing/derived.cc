#include "analyzer/testing/derived.h"

#include <cstdio>
#include <cstdlib>

#include "analyzer/analyze.h"
#include "schema/database.h"

namespace tutti::analyzer::testing {
namespace {

void OrDie(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "derived: %s\n", status.message().c_str());
  std::abort();
}

std::string TextOf(const schema::NullableValue& value) {
  if (!value) return "";
  if (const auto* number = std::get_if<int64_t>(&*value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&*value)) return *text;
  char buffer[48];
  std::snprintf(buffer, sizeof(buffer), "%.6g", std::get<double>(*value));
  return buffer;
}

}  // namespace

Derived::Derived(const RunFolder& run) {
  Result<Analysis> analysis = Analyze(run.path(), {});
  OrDie(analysis.status());
  path_ = analysis->path;
}

std::string Derived::Query(const std::string& sql) const {
  Result<schema::Database> database = schema::Database::OpenTrusted(path_);
  OrDie(database.status());
  Result<schema::Statement> statement = database->Prepare(sql);
  OrDie(statement.status());
  std::string text;
  for (;;) {
    const Result<bool> found = statement->Step();
    OrDie(found.status());
    if (!*found) return text;
    if (!text.empty()) text += "\n";
    for (int column = 0; column < statement->column_count(); ++column) {
      text += (column == 0 ? "" : "|") + TextOf(statement->GetAny(column));
    }
  }
}

}  // namespace tutti::analyzer::testing
