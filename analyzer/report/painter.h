// Colours of the report for a terminal; none where they are not wanted.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace tutti::analyzer {

class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  std::string Bold(const std::string& text) const { return Paint("1", text); }
  std::string Bad(const std::string& text) const { return Paint("1;31", text); }
  std::string Finding(const std::string& text) const { return Paint("1;33", text); }
  std::string Bar(size_t part, const std::string& text) const {
    static constexpr std::array kColours = {"32", "34", "36", "35", "33", "31", "91", "90", "37"};
    return Paint(kColours[part % kColours.size()], text);
  }

 private:
  std::string Paint(const char* code, const std::string& text) const {
    if (!colour_ || text.empty()) return text;
    return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
  }
  bool colour_;
};

}  // namespace tutti::analyzer
