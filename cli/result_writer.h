// Rows of a query's result, row by row as text: for a terminal, for other programs, for
// spreadsheets. Memory is bounded however many rows there are. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "schema/schema.h"

namespace tutti::cli {

enum class ResultFormat {
  kAligned,  // columns padded, numbers to the right; widths are those of the first 1,000
             // rows; cells longer than 100 characters are cut with '…'
  kTabs,     // one line a row, cells between tabs; control characters replaced
  kCsv,      // RFC 4180 with a header; text that a spreadsheet takes for a formula quoted
  kJson,     // {"schema": "tutti.query/1", "columns": […], "rows": [{…}, …]}
};

struct ResultColumn {
  std::string name;
  std::string type;  // as declared; empty for an expression
};

// Takes finished pieces of output; not ok ends the writing.
using TextSink = std::function<Status(std::string_view)>;

class ResultWriter {
 public:
  // `color`: the header in bold and NULL dim (aligned only).
  static std::unique_ptr<ResultWriter> Make(ResultFormat format, std::vector<ResultColumn> columns,
                                            bool color, TextSink sink);
  virtual ~ResultWriter() = default;

  Status Add(const std::vector<schema::NullableValue>& row);
  // Writes what is left. Must be called once, last.
  Status Finish();

 protected:
  ResultWriter(std::vector<ResultColumn> columns, TextSink sink)
      : columns_(std::move(columns)), sink_(std::move(sink)) {}

  virtual void Format(const std::vector<schema::NullableValue>& row) = 0;
  virtual void FormatEnd() {}

  std::vector<ResultColumn> columns_;
  std::string text_;  // output that was not handed on yet

 private:
  Status Flush();
  TextSink sink_;
};

}  // namespace tutti::cli
