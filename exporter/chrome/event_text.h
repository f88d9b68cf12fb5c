// One event of a Chrome trace as JSON text, written in one pass. Times are microseconds
// with three digits behind the point, so that no nanosecond is lost. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::exporter::chrome {

// |text| in quotes; `<`, `>`, `&` stay, control characters and quotes are escaped.
void AppendQuoted(std::string_view text, std::string& json);
// 1234567 -> "1234.567", -5 -> "-0.005".
void AppendMicroseconds(int64_t ns, std::string& json);

class EventText {
 public:
  // Begins an event; |base_ns| is taken off its time.
  EventText(char phase, std::string_view category, std::string_view name, int64_t pid, int64_t tid,
            int64_t time_ns, int64_t base_ns);

  // Keys of the event itself: before any argument.
  EventText& Duration(int64_t ns);
  EventText& Key(std::string_view name, std::string_view text);
  EventText& Key(std::string_view name, int64_t number);

  // Absent values are left out.
  EventText& Arg(std::string_view name, std::optional<int64_t> number);
  EventText& Arg(std::string_view name, double number);
  EventText& Arg(std::string_view name, std::string_view text);
  EventText& RawArg(std::string_view name, std::string_view json);

  // The whole event.
  std::string Take();

 private:
  void BeginArg(std::string_view name);

  std::string json_;
  bool has_args_ = false;
};

}  // namespace tutti::exporter::chrome
