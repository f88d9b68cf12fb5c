#include "cli/terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tutti::cli {
namespace {

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// U+0080 to U+009F in UTF-8: 0xC2 followed by 0x80 to 0x9F.
bool IsC1(std::string_view text, size_t at) {
  if (at + 1 >= text.size() || static_cast<unsigned char>(text[at]) != 0xC2) return false;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  return second >= 0x80 && second <= 0x9F;
}

}  // namespace

bool UseColor(ColorChoice choice, int fd) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  if (IsSet("NO_COLOR")) return false;
  if (IsSet("CLICOLOR_FORCE") && std::string_view(std::getenv("CLICOLOR_FORCE")) != "0")
    return true;
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

Status WriteOut(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return IoError(std::string("standard output: ") + std::strerror(errno));
    text.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

void Complain(std::string_view text) {
  std::fprintf(stderr, "tutti: %s\n", Printable(text).c_str());
}

std::string Printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (IsC1(text, i)) {
      result += '?';
      ++i;
    } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      result += '?';
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace tutti::cli
