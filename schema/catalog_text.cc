#include "schema/catalog_text.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

namespace tutti::schema {
namespace {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

struct Line {
  std::string code;
  std::string comment;
};

// At the first "--" outside of quotes.
Line SplitLine(std::string_view line) {
  char quote = '\0';
  for (size_t i = 0; i < line.size(); ++i) {
    if (quote != '\0') {
      if (line[i] == quote) quote = '\0';
    } else if (line[i] == '\'' || line[i] == '"') {
      quote = line[i];
    } else if (line.substr(i, 2) == "--") {
      return {std::string(Trimmed(line.substr(0, i))), std::string(Trimmed(line.substr(i + 2)))};
    }
  }
  return {std::string(Trimmed(line)), ""};
}

std::vector<Line> LinesOf(std::string_view text) {
  std::vector<Line> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(SplitLine(line));
  return lines;
}

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::vector<std::string> WordsOf(std::string_view code) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : code) {
    if (IsWordChar(c)) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

void AddLine(std::string& paragraph, std::string_view line) {
  if (!paragraph.empty() && paragraph.back() != '\n') paragraph += ' ';
  paragraph += line;
}

// The pieces of a line between commas that no parentheses enclose.
std::vector<std::string> CommaPieces(std::string_view code) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (const char c : code) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

// Does this piece of a line give the column? A table's column begins with its name; a
// view's ends with it.
bool Gives(std::string_view piece, std::string_view column, bool is_view) {
  const std::vector<std::string> words = WordsOf(piece);
  if (words.empty()) return false;
  return (is_view ? words.back() : words.front()) == column;
}

}  // namespace

std::vector<SqlPiece> SplitSql(std::string_view sql) {
  std::vector<SqlPiece> pieces;
  SqlPiece piece;
  const auto flush = [&] {
    if (!piece.comment.empty() || !piece.sql.empty()) pieces.push_back(std::exchange(piece, {}));
  };
  std::istringstream stream{std::string(sql)};
  for (std::string text; std::getline(stream, text);) {
    const Line line = SplitLine(text);
    if (piece.sql.empty() && line.code.empty()) {
      if (Trimmed(text).empty()) flush();
      if (Trimmed(text) == "--" && !piece.comment.empty()) piece.comment += "\n\n";
      if (!line.comment.empty()) AddLine(piece.comment, line.comment);
      continue;
    }
    const bool ends = !line.code.empty() && line.code.back() == ';';
    piece.sql += ends && line.comment.empty() ? text.substr(0, text.rfind(';')) : text + "\n";
    if (ends) flush();
  }
  flush();
  return pieces;
}

std::string CreatedName(std::string_view create) {
  const std::vector<std::string> words = WordsOf(create.substr(0, create.find('(')));
  return words.size() < 3 ? "" : words[2];
}

std::string SelectOf(std::string_view create) {
  const std::vector<std::string> words = WordsOf(create.substr(0, create.find('\n')));
  if (words.size() < 2 || !EqualsIgnoringCase(words[1], "view")) return "";
  const size_t as = create.find(" AS");
  return std::string(Trimmed(create.substr(as + 3)));
}

std::vector<std::string> TablesOf(std::string_view select) {
  std::string code;
  for (const Line& line : LinesOf(select)) code += line.code + "\n";
  std::vector<std::string> tables;
  const std::vector<std::string> words = WordsOf(code);
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (EqualsIgnoringCase(words[i], "from") || EqualsIgnoringCase(words[i], "join")) {
      tables.push_back(words[i + 1]);
    }
  }
  return tables;
}

void AddColumnComments(CatalogTable& table) {
  size_t next = 0;                   // column looked for
  CatalogColumn* current = nullptr;  // the latest found: a comment may go on behind its line
  for (const Line& line : LinesOf(table.sql)) {
    bool gave_one = false;
    for (const std::string& piece : CommaPieces(line.code)) {
      if (next == table.columns.size()) break;
      if (!Gives(piece, table.columns[next].name, table.is_view)) continue;
      current = &table.columns[next++];
      current->comment = line.comment;
      gave_one = true;
    }
    const bool goes_on = current != nullptr && !gave_one && !line.comment.empty();
    if (goes_on && (line.code.empty() || current->comment.empty())) {
      AddLine(current->comment, line.comment);
    }
  }
}

}  // namespace tutti::schema
