#include "exporter/csv/csv_export.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <variant>

#include "common/output_file.h"
#include "schema/catalog.h"

namespace tutti::exporter::csv {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string TextField(std::string text) {
  constexpr std::string_view kFormula = "=+-@\t\r";
  if (!text.empty() && kFormula.find(text.front()) != std::string_view::npos) {
    text.insert(text.begin(), '\'');
  }
  return text.find_first_of(",\"\r\n") == std::string::npos ? text : Quoted(text);
}

// Views of the file itself are never run: it may come from anywhere.
Result<CsvFile> WriteTable(schema::Database& trace, const schema::CatalogTable& table,
                           const std::string& path, bool replace) {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement rows,
      trace.Prepare(table.is_view ? table.select : "SELECT * FROM \"" + table.name + "\""));
  TUTTI_ASSIGN_OR_RETURN(bool more, rows.Step());
  CsvFile file{path, 0};
  if (!more) return file;
  TUTTI_ASSIGN_OR_RETURN(OutputFile output, OutputFile::Create(path, replace));
  const int columns = rows.column_count();
  for (int column = 0; column < columns; ++column) {
    output.Write((column == 0 ? "" : ",") + TextField(rows.column_name(column)));
  }
  output.Write("\n");
  while (more) {
    std::string line;
    for (int column = 0; column < columns; ++column) {
      if (column > 0) line += ',';
      line += Field(rows.GetAny(column));
    }
    output.Write(line + "\n");
    ++file.rows;
    TUTTI_ASSIGN_OR_RETURN(more, rows.Step());
  }
  TUTTI_RETURN_IF_ERROR(output.Finish());
  return file;
}

}  // namespace

std::string Field(const schema::NullableValue& value) {
  if (!value) return "";
  if (const auto* integer = std::get_if<int64_t>(&*value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&*value)) {
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), *real);
    (void)error;  // the shortest text of a double is never longer
    return {text.data(), end};
  }
  if (const auto* text = std::get_if<std::string>(&*value)) return TextField(*text);
  return TextField(std::get<schema::Blob>(*value).bytes);
}

Result<std::vector<CsvFile>> WriteCsvTables(schema::Database& trace, const std::string& folder,
                                            bool replace) {
  std::vector<CsvFile> files;
  for (const schema::CatalogTable& table : schema::RawCatalog().tables) {
    TUTTI_ASSIGN_OR_RETURN(CsvFile file,
                           WriteTable(trace, table, folder + "/" + table.name + ".csv", replace));
    if (file.rows > 0) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace tutti::exporter::csv
