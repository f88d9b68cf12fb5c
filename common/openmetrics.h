// Numbers as OpenMetrics text, for node-exporter's textfile collector, Prometheus and GitLab's
// metrics report. Pure; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::openmetrics {

// |text| as the inside of a label's quotes, control characters made harmless.
std::string LabelText(std::string_view text);

// One family of gauges; families must not be interleaved. Empty ones leave no text.
class Family {
 public:
  // |help| is one line. Names end in their unit, which is a base unit (seconds, bytes).
  Family(const std::string& name, const std::string& help);

  // |labels| as they stand between the braces: a="x",b="y". Four significant digits are kept,
  // so that values that differ by noise only are mostly the same string, as GitLab compares.
  void Add(const std::string& labels, double value);
  // A count, kept whole.
  void AddCount(const std::string& labels, int64_t value);

  std::string Text() const { return samples_.empty() ? "" : head_ + samples_; }

 private:
  void AddText(const std::string& labels, const std::string& value);

  std::string name_;
  std::string head_;
  std::string samples_;
};

// What ends the text.
inline constexpr const char* kEnd = "# EOF\n";

}  // namespace tutti::openmetrics
