// tutti query: SQL over a run, read-only.
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/choice.h"
#include "cli/open_run.h"
#include "cli/result_writer.h"
#include "cli/verb.h"
#include "schema/schema.h"

namespace tutti::cli {
namespace {

enum class QueryFormat { kTable, kCsv, kJson };

struct QueryArguments {
  std::string run;
  std::string sql;
  QueryFormat format = QueryFormat::kTable;
};

ResultFormat FormatOf(const QueryArguments& arguments, const Invocation& invocation) {
  if (invocation.json || arguments.format == QueryFormat::kJson) return ResultFormat::kJson;
  if (arguments.format == QueryFormat::kCsv) return ResultFormat::kCsv;
  return isatty(STDOUT_FILENO) == 1 ? ResultFormat::kAligned : ResultFormat::kTabs;
}

// Tells why a table of the schema is not there.
Status Explain(const Status& error, const schema::RunView& run, const std::string& run_path) {
  constexpr std::string_view kNoTable = "no such table: ";
  const size_t at = error.message().find(kNoTable);
  if (at == std::string::npos) return error;
  const std::string table = error.message().substr(at + kNoTable.size());
  for (const std::string& name : schema::TableNames()) {
    if (name != table) continue;
    return UsageError(error.message() + (run.files().derived.empty()
                                             ? "; it is made by: tutti analyze " + run_path
                                             : "; this file holds derived tables only"));
  }
  return UsageError(error.message() + "; tutti schema lists them");
}

std::vector<ResultColumn> ColumnsOf(const schema::Statement& statement) {
  std::vector<ResultColumn> columns;
  columns.reserve(static_cast<size_t>(statement.column_count()));
  for (int i = 0; i < statement.column_count(); ++i) {
    columns.push_back({statement.column_name(i), statement.declared_type(i)});
  }
  return columns;
}

Status WriteRows(schema::Statement& statement, ResultWriter& writer) {
  std::vector<schema::NullableValue> row(static_cast<size_t>(statement.column_count()));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return OkStatus();
    for (size_t i = 0; i < row.size(); ++i) row[i] = statement.GetAny(static_cast<int>(i));
    TUTTI_RETURN_IF_ERROR(writer.Add(row));
  }
}

Status Query(const QueryArguments& arguments, const Invocation& invocation) {
  TUTTI_ASSIGN_OR_RETURN(const std::string path, OpenRun(arguments.run));
  TUTTI_ASSIGN_OR_RETURN(schema::RunView run, schema::RunView::Open(path));
  std::string sql = arguments.sql;
  if (sql == "-") sql.assign(std::istreambuf_iterator<char>(std::cin), {});
  Result<schema::Statement> statement = run.database().Prepare(sql);
  if (!statement.ok()) return Explain(statement.status(), run, arguments.run);
  const std::unique_ptr<ResultWriter> writer =
      ResultWriter::Make(FormatOf(arguments, invocation), ColumnsOf(*statement),
                         UseColor(invocation.color, STDOUT_FILENO), WriteOut);
  const Status status = WriteRows(*statement, *writer);
  const Status finished = writer->Finish();  // the rows before an error are good
  return status.ok() ? finished : status;
}

}  // namespace

void AddQuery(CLI::App& app, Invocation& invocation) {
  const auto arguments = std::make_shared<QueryArguments>();
  CLI::App* query = app.add_subcommand(
      "query", "Ask a run in SQL: raw tables of all ranks, views and derived tables");
  query
      ->add_option("run", arguments->run,
                   "A run's folder, one trace or run.sqlite, or files of other tools")
      ->required()
      ->option_text("RUN|FILE");
  query->add_option("sql", arguments->sql, "One SELECT; - reads it from standard input")
      ->required()
      ->option_text("SQL");
  query
      ->add_option("--format", arguments->format,
                   "table (tab-separated where the output is no terminal), csv or json")
      ->transform(OneOf<QueryFormat>({{"table", QueryFormat::kTable},
                                      {"csv", QueryFormat::kCsv},
                                      {"json", QueryFormat::kJson}}))
      ->envname("TUTTI_QUERY_FORMAT")
      ->default_str("table")
      ->option_text("table|csv|json");
  invocation.formats.push_back({query->get_option("--format"),
                                [arguments] { return arguments->format == QueryFormat::kJson; }});
  query->footer(
      "tutti query runs/a \"SELECT rank, count(*) FROM v_step GROUP BY rank\"\n"
      "tutti schema lists the tables.");
  query->callback([arguments, &invocation] {
    if (const Status status = Query(*arguments, invocation); !status.ok()) invocation.Fail(status);
  });
}

}  // namespace tutti::cli
