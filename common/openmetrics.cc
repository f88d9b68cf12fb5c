#include "common/openmetrics.h"

#include <array>
#include <cstdio>

#include "common/text.h"

namespace tutti::openmetrics {

std::string LabelText(std::string_view text) {
  std::string escaped;
  for (const char c : ToPrintableText(text)) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

Family::Family(const std::string& name, const std::string& help)
    : name_(name), head_("# TYPE " + name + " gauge\n# HELP " + name + " " + help + "\n") {}

void Family::AddText(const std::string& labels, const std::string& value) {
  samples_ += name_ + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
}

void Family::Add(const std::string& labels, double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", value);
  AddText(labels, text.data());
}

void Family::AddCount(const std::string& labels, int64_t value) {
  AddText(labels, std::to_string(value));
}

}  // namespace tutti::openmetrics
