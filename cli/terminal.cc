#include "cli/terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/text.h"

namespace tutti::cli {
namespace {

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
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
  std::fprintf(stderr, "tutti: %s\n", ToPrintableText(text).c_str());
}

std::string Printable(std::string_view text) {
  std::string result;
  while (true) {
    const size_t kept = text.find_first_of("\n\t");
    result += ToPrintableText(text.substr(0, kept));
    if (kept == std::string_view::npos) return result;
    result += text[kept];
    text.remove_prefix(kept + 1);
  }
}

}  // namespace tutti::cli
