#include "viewer/scene/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tutti::viewer {
namespace {

std::string Print(const char* format, double value, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value, unit);
  return text.data();
}

// With four digits.
std::string FourDigits(double value, const char* unit) {
  const double size = std::abs(value);
  const char* format = size < 10     ? "%.3f %s"
                       : size < 100  ? "%.2f %s"
                       : size < 1000 ? "%.1f %s"
                                     : "%.0f %s";
  return Print(format, value, unit);
}

}  // namespace

std::string FormatNs(int64_t ns) {
  const auto value = static_cast<double>(ns);
  const double size = std::abs(value);
  if (size < 1e3) return std::to_string(ns) + " ns";
  if (size < 1e6) return FourDigits(value / 1e3, "µs");
  if (size < 1e9) return FourDigits(value / 1e6, "ms");
  if (size < 600e9) return FourDigits(value / 1e9, "s");
  const int64_t minutes = ns / 60'000'000'000;
  if (minutes < 600) return Print("%.1f %s", value / 60e9, "min");
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%lld h %02lld min", static_cast<long long>(minutes / 60),
                static_cast<long long>(std::abs(minutes % 60)));
  return text.data();
}

std::string FormatTime(int64_t since_begin_ns, int64_t step_ns) {
  struct Unit {
    int64_t ns;
    const char* name;
  };
  static constexpr std::array<Unit, 4> kUnits = {
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "µs"}, {1, "ns"}}};
  const int64_t size = std::max(std::abs(since_begin_ns), step_ns);
  const Unit* unit = &kUnits.back();
  for (const Unit& candidate : kUnits) {
    if (size >= candidate.ns) {
      unit = &candidate;
      break;
    }
  }
  int digits = 0;
  for (int64_t step = unit->ns; step > step_ns; step /= 10) ++digits;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", digits,
                static_cast<double>(since_begin_ns) / static_cast<double>(unit->ns), unit->name);
  return text.data();
}

std::string FormatShare(double share) {
  std::array<char, 64> text{};
  const double percent = std::abs(share) < 0.0005 ? 0 : share * 100;
  std::snprintf(text.data(), text.size(), percent == 0 ? "%.1f %%" : "%+.1f %%", percent);
  return text.data();
}

std::string FormatSaving(int64_t bound_ns, double share, std::optional<int64_t> replayed_ns) {
  const bool is_replayed = replayed_ns.has_value() && bound_ns > 0;
  if (is_replayed) share *= static_cast<double>(*replayed_ns) / static_cast<double>(bound_ns);
  std::array<char, 32> percent{};
  std::snprintf(percent.data(), percent.size(), " a step (%.1f %%)", share * 100);
  std::string text = is_replayed ? "saves " : "up to ";
  text.append(FormatNs(is_replayed ? *replayed_ns : bound_ns)).append(percent.data());
  if (is_replayed) text.append(", at most ").append(FormatNs(bound_ns));
  return text;
}

std::string FormatCount(int64_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    const bool starts_group = (digits.size() - i) % 3 == 0;
    if (starts_group && i > 0 && digits[i - 1] != '-') text += ',';
    text += digits[i];
  }
  return text;
}

std::string FormatBytes(double bytes) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return Print(unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
}

std::string FormatValue(double value, std::string_view unit) {
  if (unit == "bytes") return FormatBytes(value);
  if (unit == "bytes/s") return FormatBytes(value) + "/s";
  static constexpr std::array kPrefixes = {"", "k", "M", "G", "T"};
  size_t prefix = 0;
  while (std::abs(value) >= 1000 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.4g %s%.*s", value, kPrefixes[prefix],
                static_cast<int>(unit.size()), unit.data());
  return text.data();
}

std::string ShortName(std::string_view name) {
  // Only C++ signatures are cut: they have template arguments or parameters.
  if (name.find("::") == std::string_view::npos && name.find('<') == std::string_view::npos) {
    return std::string(name);
  }
  std::string plain;  // without what stands in <> and ()
  int depth = 0;
  for (const char c : name) {
    if (c == '<' || c == '(') {
      if (c == '(' && depth == 0 && !plain.empty()) break;
      ++depth;
    } else if (c == '>' || c == ')') {
      depth = std::max(0, depth - 1);
    } else if (depth == 0) {
      plain += c;
    }
  }
  if (plain.starts_with("void ")) plain.erase(0, 5);
  // Operators keep their namespace ("aten::mm"); kernels lose theirs.
  const bool is_signature = plain.size() < name.size();
  const size_t scope = plain.rfind("::");
  if (is_signature && scope != std::string::npos && scope + 2 < plain.size()) {
    plain.erase(0, scope + 2);
  }
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  return plain.empty() ? std::string(name) : plain;
}

}  // namespace tutti::viewer
