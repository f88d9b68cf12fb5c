#include "analyzer/report/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tutti::analyzer {
namespace {

std::string Print(const char* format, double value) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

std::string Milliseconds(double ns) { return Print("%.3f", ns / 1e6); }

std::string MsOrDash(const std::optional<int64_t>& ns) {
  return ns ? Milliseconds(static_cast<double>(*ns)) : "-";
}

std::string Counted(int64_t number, const char* one, const char* many) {
  return WithCommas(number) + " " + (number == 1 ? one : many);
}

std::string Bytes(int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = unit == 0 || std::abs(value) >= 100 || value == std::floor(value);
  return Print(whole ? "%.0f " : "%.1f ", value) + kUnits[unit];
}

std::string Rate(double per_second) {
  if (per_second >= 100) return WithCommas(std::llround(per_second));
  return Print(per_second >= 10 ? "%.1f" : "%.2f", per_second);
}

std::string PercentOf(double part, double whole) {
  return whole == 0 ? "-" : Print("%.1f %%", part / whole * 100);
}

std::string SavingOf(int64_t bound_ns, double share, std::optional<int64_t> replayed_ns) {
  const auto bound = static_cast<double>(bound_ns);
  if (!replayed_ns || bound_ns <= 0) {
    return "up to " + Milliseconds(bound) + " ms per step (" + PercentOf(share, 1) + ")";
  }
  const auto saved = static_cast<double>(*replayed_ns);
  return "saves " + Milliseconds(saved) + " ms per step (" + PercentOf(share * saved / bound, 1) +
         "), at most " + Milliseconds(bound) + " ms";
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), StartsCharacter));
}

std::string Cut(std::string_view text, size_t columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  size_t width = 0;
  size_t end = 0;
  while (end < text.size() && (!StartsCharacter(text[end]) || width + 1 < columns)) {
    if (StartsCharacter(text[end])) ++width;
    ++end;
  }
  return std::string(text.substr(0, end)) + (columns > 0 ? "…" : "");
}

std::string Wrap(std::string_view text, size_t columns, size_t first_indent, size_t indent) {
  std::string lines(first_indent, ' ');
  size_t width = first_indent;
  bool at_begin = true;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string word = Cut(text.substr(0, end), columns - std::max(indent, first_indent));
    const size_t word_width = DisplayWidth(word);
    if (!at_begin && width + 1 + word_width > columns) {
      lines += "\n" + std::string(indent, ' ');
      width = indent;
      at_begin = true;
    }
    lines += (at_begin ? "" : " ") + word;
    width += (at_begin ? 0 : 1) + word_width;
    at_begin = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string Table(const std::vector<std::vector<std::string>>& rows, size_t left) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - DisplayWidth(row[i]), ' ');
      line += "  " + (i < left ? row[i] + pad : pad + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace tutti::analyzer
