#include "analyzer/compare/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tutti::analyzer::compare {
namespace {

std::string Print(const char* format, double value) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

// Three or four significant digits.
std::string Digits(double value) {
  const double size = std::abs(value);
  return Print(size >= 1000 ? "%.0f" : size >= 100 ? "%.1f" : "%.2f", value);
}

std::string Signed(double value, std::string text) {
  return value >= 0 ? "+" + std::move(text) : std::move(text);
}

// Characters, not bytes, of UTF-8.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string Duration(double ns) {
  const double size = std::abs(ns);
  // Below the unit by less than what is printed: 999,999 ns are 1.00 ms.
  if (size >= 0.99995e9) return Digits(ns / 1e9) + " s";
  if (size >= 0.99995e6) return Digits(ns / 1e6) + " ms";
  if (size >= 0.99995e3) return Digits(ns / 1e3) + " us";
  return Print("%.0f ns", ns);
}

std::string SignedDuration(double ns) {
  return std::abs(ns) < 0.5 ? "0 ns" : Signed(ns, Duration(ns));
}

std::string Percent(double share) {
  const double percent = share * 100;
  return Print(std::abs(percent) >= 100 ? "%.0f %%" : "%.2f %%", percent);
}

std::string SignedPercent(double share) { return Signed(share, Percent(share)); }

std::string PValue(double p) {
  if (p < 0.0001) return "<0.0001";
  return p > 0.99995 ? "1" : Print("%.4f", p);
}

std::string Plain(double number) { return Print("%g", number); }

std::string Value(Unit unit, double value) {
  switch (unit) {
    case Unit::kNs:
      return Duration(value);
    case Unit::kBytes:
      return Digits(value / (1 << 20)) + " MiB";
    case Unit::kPerSecond:
      return Digits(value) + " /s";
    case Unit::kShare:
      return Percent(value);
  }
  return "";
}

std::string Columns(const std::vector<std::vector<std::string>>& rows, size_t left) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - WidthOf(row[i]), ' ');
      line += "  " + (i < left ? row[i] + padding : padding + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace tutti::analyzer::compare
