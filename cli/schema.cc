// tutti schema: what tables, views and columns there are and mean.
#include "schema/schema.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/verb.h"

namespace tutti::cli {
namespace {

struct SchemaArguments {
  std::string table;  // empty: all
  bool sql = false;
  bool markdown = false;
};

std::string AllSql() {
  return std::string(schema::RawSql()) + "\n" + std::string(schema::DerivedSql());
}

Result<std::string> Text(const SchemaArguments& arguments) {
  const bool all = arguments.table.empty();
  if (arguments.sql) return all ? AllSql() : schema::TableSql(arguments.table);
  if (arguments.markdown) {
    return all ? schema::ReferenceMarkdown() : schema::TableMarkdown(arguments.table);
  }
  return all ? schema::ReferenceList() : schema::TableText(arguments.table);
}

nlohmann::ordered_json Json(const schema::CatalogTable& table) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const schema::CatalogColumn& column : table.columns) {
    columns.push_back({{"name", column.name},
                       {"type", column.type},
                       {"nullable", column.nullable},
                       {"key", column.primary_key},
                       {"comment", column.comment}});
  }
  return {{"name", table.name},
          {"kind", table.is_view ? "view" : "table"},
          {"comment", table.comment},
          {"columns", columns}};
}

Result<std::string> JsonText(const std::string& wanted) {
  nlohmann::ordered_json tables = nlohmann::ordered_json::array();
  for (const schema::Catalog* catalog : {&schema::RawCatalog(), &schema::DerivedCatalog()}) {
    for (const schema::CatalogTable& table : catalog->tables) {
      if (wanted.empty() || wanted == table.name) tables.push_back(Json(table));
    }
  }
  if (tables.empty()) return schema::TableText(wanted).status();  // there is none: it says so
  const nlohmann::ordered_json document = {
      {"schema", "tutti.schema/1"}, {"version", schema::kSchemaVersion}, {"tables", tables}};
  return document.dump(2) + "\n";
}

}  // namespace

void AddSchema(CLI::App& app, Invocation& invocation) {
  const auto arguments = std::make_shared<SchemaArguments>();
  CLI::App* verb =
      app.add_subcommand("schema", "Show the tables and views, or one with its columns");
  verb->add_option("table", arguments->table, "A table or view")->option_text("[TABLE]");
  CLI::Option* sql =
      verb->add_flag("--sql", arguments->sql, "As the SQL that makes them")->configurable(false);
  verb->add_flag("--markdown", arguments->markdown, "As docs/schema.md has it")
      ->excludes(sql)
      ->configurable(false);
  verb->callback([arguments, &invocation] {
    const Result<std::string> text =
        invocation.json ? JsonText(arguments->table) : Text(*arguments);
    const Status status = text.ok() ? WriteOut(*text) : text.status();
    if (!status.ok()) invocation.Fail(status);
  });
}

}  // namespace tutti::cli
