#include "viewer/scene/csv.h"

namespace tutti::viewer {

void Csv::AddRow(const std::vector<std::string>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text_ += ',';
    if (cells[i].find_first_of(",\"\n\r") == std::string::npos) {
      text_ += cells[i];
      continue;
    }
    text_ += '"';
    for (const char c : cells[i]) {
      if (c == '"') text_ += '"';
      text_ += c;
    }
    text_ += '"';
  }
  text_ += '\n';
}

}  // namespace tutti::viewer
