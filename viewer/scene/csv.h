// Tables as text that spreadsheets and programs read (RFC 4180, a line ends with "\n").
#pragma once

#include <string>
#include <vector>

namespace tutti::viewer {

class Csv {
 public:
  // The first row names the columns. Each cell is quoted where it must be.
  void AddRow(const std::vector<std::string>& cells);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace tutti::viewer
