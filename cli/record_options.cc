#include "cli/record_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tutti::cli {
namespace {

// The number at the start of |text|, which is moved behind it. Not negative, not huge.
std::optional<double> TakeNumber(std::string_view& text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0) || number > 1e15) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

template <typename Unit>
std::optional<double> FactorOf(std::string_view unit, const Unit& units) {
  for (const auto& [name, factor] : units) {
    if (unit == name) return factor;
  }
  return std::nullopt;
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Result<uint64_t> ParseBytes(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},        {"B", 1},        {"K", 1024.0},  {"KB", 1024.0},  {"KiB", 1024.0},
      {"k", 1024.0},  {"M", 0x1p20},   {"MB", 0x1p20}, {"MiB", 0x1p20}, {"G", 0x1p30},
      {"GB", 0x1p30}, {"GiB", 0x1p30}, {"T", 0x1p40},  {"TB", 0x1p40},  {"TiB", 0x1p40}};
  std::string_view rest = text;
  const auto number = TakeNumber(rest);
  const auto factor = FactorOf(rest, kUnits);
  if (!number || !factor || *number * *factor > 0x1p62) {
    return UsageError("not a size: " + std::string(text) + " (64M, 2G, …)");
  }
  return static_cast<uint64_t>(std::llround(*number * *factor));
}

Result<int64_t> ParseDuration(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"m", 60e9}, {"h", 3600e9}};
  std::string_view rest = text;
  const auto number = TakeNumber(rest);
  const auto factor = FactorOf(rest, kUnits);
  if (!number || !factor || *number * *factor > 0x1p62) {
    return UsageError("not a time: " + std::string(text) + " (1s, 500ms, …)");
  }
  return std::llround(*number * *factor);
}

Result<collector::convert::StepRange> ParseSteps(std::string_view text) {
  const size_t colon = text.find(':');
  const Status bad = UsageError("--steps " + std::string(text) +
                                ": give the first step and the one after the last, as 40:60");
  if (colon == std::string_view::npos) return bad;
  const std::string_view first = text.substr(0, colon);
  const std::string_view last = text.substr(colon + 1);
  const auto begin = first.empty() ? std::optional<int64_t>(std::numeric_limits<int64_t>::min())
                                   : WholeNumber(first);
  const auto end = last.empty() ? std::optional<int64_t>(std::numeric_limits<int64_t>::max())
                                : WholeNumber(last);
  if (!begin || !end || *begin >= *end) return bad;
  return collector::convert::StepRange{*begin, *end};
}

Status ParseSources(std::string_view text, collector::RecordOptions* options) {
  const std::vector<collector::Source>& available = collector::AvailableSources();
  options->capture_mask = 0;
  options->sample_system = false;
  options->sources.clear();
  for (;;) {
    const size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    const auto source = std::find_if(available.begin(), available.end(),
                                     [name](const auto& known) { return known.name == name; });
    if (source == available.end()) {
      std::string known;
      for (const auto& one : available)
        known += (known.empty() ? "" : ", ") + std::string(one.name);
      return UsageError("--trace " + std::string(name) + ": this build has " + known);
    }
    options->capture_mask |= source->capture_bits;
    if (source->capture_bits == 0) options->sample_system = true;
    options->sources.emplace_back(name);
    if (comma == std::string_view::npos) return OkStatus();
    text.remove_prefix(comma + 1);
  }
}

}  // namespace tutti::cli
