#include "collector/run/redact.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tutti::collector::run {
namespace {

constexpr std::string_view kMask = "***";
constexpr size_t kTokenLength = 20;  // API keys start about here; words and numbers end before

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool SpeaksOfSecret(std::string_view name) {
  constexpr std::string_view kWords[] = {
      "token",   "passw", "passphrase", "secret",      "credential",  "apikey",     "api-key",
      "api_key", "auth",  "cookie",     "private-key", "private_key", "access-key", "access_key"};
  const std::string lower = Lower(name);
  return std::any_of(std::begin(kWords), std::end(kWords), [&lower](std::string_view word) {
    return lower.find(word) != std::string::npos;
  });
}

// Long, of one piece, and with letters and digits mixed: hex, base64, JWT.
bool LooksRandom(std::string_view value) {
  if (value.size() < kTokenLength || value.find('/') == 0) return false;
  size_t letters = 0;
  size_t digits = 0;
  size_t changes = 0;
  bool was_digit = false;
  for (const char c : value) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (c == ' ' || c == ',') return false;
    if (is_digit) ++digits;
    if (is_letter) ++letters;
    if ((is_digit || is_letter) && is_digit != was_digit) ++changes;
    if (is_digit || is_letter) was_digit = is_digit;
  }
  return letters >= 4 && digits >= 4 && changes >= 5;
}

bool IsVariableName(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isupper(c) || std::isdigit(c) || c == '_';
         });
}

std::string RedactUrl(std::string value) {
  const size_t scheme = value.find("://");
  if (scheme == std::string::npos) return value;
  const size_t host = scheme + 3;
  const size_t at = value.find('@', host);
  if (at == std::string::npos || at > value.find('/', host)) return value;
  return value.replace(host, at - host, kMask);
}

std::string RedactValue(std::string_view value) {
  if (LooksRandom(value)) return std::string(kMask);
  return RedactUrl(std::string(value));
}

std::string RedactAssignment(std::string_view name, std::string_view value) {
  const bool hide = SpeaksOfSecret(name) || IsVariableName(name);
  return std::string(name) + "=" + (hide ? std::string(kMask) : RedactValue(value));
}

}  // namespace

std::vector<std::string> RedactArguments(const std::vector<std::string>& argv) {
  std::vector<std::string> kept;
  bool hide_next = false;
  for (const std::string& argument : argv) {
    const bool is_option = argument.starts_with('-');
    const size_t equals = argument.find('=');
    if (hide_next && !is_option) {
      kept.emplace_back(kMask);
    } else if (equals != std::string::npos) {
      kept.push_back(RedactAssignment(argument.substr(0, equals), argument.substr(equals + 1)));
    } else {
      kept.push_back(is_option ? argument : RedactValue(argument));
    }
    hide_next = is_option && equals == std::string::npos && SpeaksOfSecret(argument);
  }
  return kept;
}

}  // namespace tutti::collector::run
