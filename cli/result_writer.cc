#include "cli/result_writer.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/text.h"

namespace tutti::cli {
namespace {

using schema::Blob;
using schema::NullableValue;
using Row = std::vector<NullableValue>;

constexpr size_t kFlushBytes = 64 << 10;

std::string RealText(double real) {
  char buffer[32];
  const auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), real);
  return error == std::errc() ? std::string(buffer, end) : "";
}

std::string HexText(const Blob& blob) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char byte : blob.bytes) {
    hex += kDigits[static_cast<unsigned char>(byte) >> 4];
    hex += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return hex;
}

// The value as SQL's cast to text would give it; NULL as "".
std::string TextOf(const NullableValue& value) {
  if (!value) return "";
  if (const auto* number = std::get_if<int64_t>(&*value)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&*value)) return RealText(*real);
  if (const auto* text = std::get_if<std::string>(&*value)) return *text;
  return "x'" + HexText(std::get<Blob>(*value)) + "'";
}

bool IsNumber(const NullableValue& value) {
  return value &&
         (std::holds_alternative<int64_t>(*value) || std::holds_alternative<double>(*value));
}

class TabsWriter : public ResultWriter {
 public:
  TabsWriter(std::vector<ResultColumn> columns, TextSink sink)
      : ResultWriter(std::move(columns), std::move(sink)) {
    for (const ResultColumn& column : columns_) AddCell(column.name);
    EndLine();
  }

 private:
  void Format(const Row& row) override {
    for (const NullableValue& value : row) AddCell(TextOf(value));
    EndLine();
  }
  void AddCell(std::string_view cell) {
    if (!is_first_) text_ += '\t';
    is_first_ = false;
    text_ += ToPrintableText(cell);
  }
  void EndLine() {
    text_ += '\n';
    is_first_ = true;
  }
  bool is_first_ = true;
};

class CsvWriter : public ResultWriter {
 public:
  CsvWriter(std::vector<ResultColumn> columns, TextSink sink)
      : ResultWriter(std::move(columns), std::move(sink)) {
    for (size_t i = 0; i < columns_.size(); ++i) AddText(columns_[i].name, i);
    text_ += "\r\n";
  }

 private:
  void Format(const Row& row) override {
    for (size_t i = 0; i < row.size(); ++i) {
      const bool is_text = row[i] && std::holds_alternative<std::string>(*row[i]);
      if (is_text) {
        AddText(std::get<std::string>(*row[i]), i);
      } else {
        if (i > 0) text_ += ',';
        text_ += TextOf(row[i]);
      }
    }
    text_ += "\r\n";
  }

  // Empty text is quoted to tell it from NULL.
  void AddText(const std::string& text, size_t column) {
    if (column > 0) text_ += ',';
    const bool quoted = text.empty() ||
                        std::string_view("=+-@").find(text[0]) != std::string::npos ||
                        text.find_first_of(",\"\r\n") != std::string::npos;
    if (quoted) text_ += '"';
    for (const char c : text) {
      if (c == '"') text_ += '"';
      text_ += IsControl(c) ? '?' : c;
    }
    if (quoted) text_ += '"';
  }
  static bool IsControl(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
  }
};

class JsonWriter : public ResultWriter {
 public:
  JsonWriter(std::vector<ResultColumn> columns, TextSink sink)
      : ResultWriter(std::move(columns), std::move(sink)) {
    MakeNamesUnique();
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ResultColumn& column : columns_) {
      nlohmann::ordered_json type;
      if (!column.type.empty()) type = column.type;
      list.push_back({{"name", column.name}, {"type", type}});
    }
    text_ += "{\"schema\": \"tutti.query/1\", \"columns\": " + Dump(list) + ", \"rows\": [";
  }

 private:
  void Format(const Row& row) override {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (size_t i = 0; i < row.size(); ++i) object[columns_[i].name] = Json(row[i]);
    text_ += is_first_ ? "\n  " : ",\n  ";
    is_first_ = false;
    text_ += Dump(object);
  }
  void FormatEnd() override { text_ += is_first_ ? "]}\n" : "\n]}\n"; }

  // A second column of one name gets "_2" behind it, so that no value is hidden.
  void MakeNamesUnique() {
    std::set<std::string> taken;
    for (ResultColumn& column : columns_) {
      const std::string name = column.name;
      for (int i = 2; !taken.insert(column.name).second; ++i) {
        column.name = name + "_" + std::to_string(i);
      }
    }
  }

  // Pure ASCII, so that nothing in it can steer a terminal; bytes that are not UTF-8 replaced.
  static std::string Dump(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', /*ensure_ascii=*/true,
                     nlohmann::ordered_json::error_handler_t::replace);
  }

  static nlohmann::ordered_json Json(const NullableValue& value) {
    if (!value) return nullptr;
    if (const auto* number = std::get_if<int64_t>(&*value)) return *number;
    if (const auto* real = std::get_if<double>(&*value)) return *real;
    return TextOf(value);
  }
  bool is_first_ = true;
};

class AlignedWriter : public ResultWriter {
 public:
  AlignedWriter(std::vector<ResultColumn> columns, bool color, TextSink sink)
      : ResultWriter(std::move(columns), std::move(sink)), color_(color) {
    for (const ResultColumn& column : columns_) widths_.push_back(Length(Cut(column.name)));
  }

 private:
  static constexpr size_t kMeasuredRows = 1'000;
  static constexpr size_t kLongestCell = 100;
  static constexpr std::string_view kNull = "NULL";

  struct Cell {
    std::string text;
    bool is_number;
    bool is_null;
  };

  void Format(const Row& row) override {
    std::vector<Cell> cells;
    for (size_t i = 0; i < row.size(); ++i) {
      cells.push_back({row[i] ? Cut(TextOf(row[i])) : std::string(kNull), IsNumber(row[i]),
                       !row[i].has_value()});
      if (!has_header_) widths_[i] = std::max(widths_[i], Length(cells.back().text));
    }
    if (has_header_) {
      AddLine(cells);
      return;
    }
    measured_.push_back(std::move(cells));
    if (measured_.size() == kMeasuredRows) Release();
  }

  void FormatEnd() override {
    if (!has_header_) Release();
  }

  // The widths are known: writes the header and the rows that were kept for them.
  void Release() {
    has_header_ = true;
    if (color_) text_ += "\x1b[1m";
    std::vector<Cell> names;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const bool is_number = !measured_.empty() && measured_.front()[i].is_number;
      names.push_back({Cut(columns_[i].name), is_number, false});
    }
    AddLine(names);
    if (color_) text_.insert(text_.size() - 1, "\x1b[0m");
    for (const std::vector<Cell>& cells : std::exchange(measured_, {})) AddLine(cells);
  }

  void AddLine(const std::vector<Cell>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text_ += "  ";
      const size_t length = Length(cells[i].text);
      const std::string padding(widths_[i] > length ? widths_[i] - length : 0, ' ');
      const bool dim = color_ && cells[i].is_null;
      if (cells[i].is_number) text_ += padding;
      text_ += (dim ? "\x1b[2m" : "") + cells[i].text + (dim ? "\x1b[0m" : "");
      if (!cells[i].is_number && i + 1 < cells.size()) text_ += padding;
    }
    text_ += '\n';
  }

  // In characters (code points); close enough to columns of a terminal.
  static size_t Length(std::string_view text) {
    return static_cast<size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  }

  static std::string Cut(std::string_view raw) {
    std::string text = ToPrintableText(raw);
    if (Length(text) <= kLongestCell) return text;
    size_t characters = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
      if (++characters == kLongestCell) return text.substr(0, i) + "…";
    }
    return text;
  }

  bool color_;
  bool has_header_ = false;
  std::vector<size_t> widths_;
  std::vector<std::vector<Cell>> measured_;  // rows that wait for the widths
};

}  // namespace

std::unique_ptr<ResultWriter> ResultWriter::Make(ResultFormat format,
                                                 std::vector<ResultColumn> columns, bool color,
                                                 TextSink sink) {
  switch (format) {
    case ResultFormat::kTabs:
      return std::make_unique<TabsWriter>(std::move(columns), std::move(sink));
    case ResultFormat::kCsv:
      return std::make_unique<CsvWriter>(std::move(columns), std::move(sink));
    case ResultFormat::kJson:
      return std::make_unique<JsonWriter>(std::move(columns), std::move(sink));
    case ResultFormat::kAligned:
      break;
  }
  return std::make_unique<AlignedWriter>(std::move(columns), color, std::move(sink));
}

Status ResultWriter::Add(const Row& row) {
  Format(row);
  return text_.size() < kFlushBytes ? OkStatus() : Flush();
}

Status ResultWriter::Finish() {
  FormatEnd();
  return Flush();
}

Status ResultWriter::Flush() { return sink_(std::exchange(text_, {})); }

}  // namespace tutti::cli
