#include "exporter/chrome/event_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace tutti::exporter::chrome {

void AppendQuoted(std::string_view text, std::string& json) {
  constexpr char kDigits[] = "0123456789abcdef";
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (c == '\n') {
      json += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      json += "\\u00";
      json += kDigits[byte >> 4];
      json += kDigits[byte & 15];
    } else {
      json += c;
    }
  }
  json += '"';
}

void AppendMicroseconds(int64_t ns, std::string& json) {
  constexpr int64_t kNsPerUs = 1000;
  if (ns < 0) json += '-';
  // Also of the lowest number, which has no positive counterpart.
  const uint64_t size =
      ns < 0 ? uint64_t{0} - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  json += std::to_string(size / kNsPerUs);
  const uint64_t rest = size % kNsPerUs;
  if (rest == 0) return;
  json += '.';
  json += static_cast<char>('0' + rest / 100);
  json += static_cast<char>('0' + rest / 10 % 10);
  json += static_cast<char>('0' + rest % 10);
}

EventText::EventText(char phase, std::string_view category, std::string_view name, int64_t pid,
                     int64_t tid, int64_t time_ns, int64_t base_ns) {
  json_ = "{\"ph\":\"";
  json_ += phase;
  json_ += "\",\"name\":";
  AppendQuoted(name, json_);
  if (!category.empty()) Key("cat", category);
  Key("pid", pid);
  Key("tid", tid);
  if (phase == 'M') return;
  json_ += ",\"ts\":";
  int64_t relative_ns = 0;
  if (__builtin_sub_overflow(time_ns, base_ns, &relative_ns)) relative_ns = 0;
  AppendMicroseconds(relative_ns, json_);
}

EventText& EventText::Duration(int64_t ns) {
  json_ += ",\"dur\":";
  AppendMicroseconds(ns, json_);
  return *this;
}

EventText& EventText::Key(std::string_view name, std::string_view text) {
  json_ += ',';
  AppendQuoted(name, json_);
  json_ += ':';
  AppendQuoted(text, json_);
  return *this;
}

EventText& EventText::Key(std::string_view name, int64_t number) {
  json_ += ',';
  AppendQuoted(name, json_);
  json_ += ':';
  json_ += std::to_string(number);
  return *this;
}

void EventText::BeginArg(std::string_view name) {
  json_ += has_args_ ? "," : ",\"args\":{";
  has_args_ = true;
  AppendQuoted(name, json_);
  json_ += ':';
}

EventText& EventText::Arg(std::string_view name, std::optional<int64_t> number) {
  if (!number) return *this;
  BeginArg(name);
  json_ += std::to_string(*number);
  return *this;
}

EventText& EventText::Arg(std::string_view name, double number) {
  if (!std::isfinite(number)) return *this;
  BeginArg(name);
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  (void)error;  // the shortest text of a double is never longer
  json_.append(text.data(), end);
  return *this;
}

EventText& EventText::Arg(std::string_view name, std::string_view text) {
  BeginArg(name);
  AppendQuoted(text, json_);
  return *this;
}

EventText& EventText::RawArg(std::string_view name, std::string_view json) {
  BeginArg(name);
  json_ += json;
  return *this;
}

std::string EventText::Take() {
  json_ += has_args_ ? "}}" : "}";
  return std::move(json_);
}

}  // namespace tutti::exporter::chrome
