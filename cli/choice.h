// An option's value as one of some words:
//
//   ->transform(OneOf<Format>({{"text", Format::kText}, {"json", Format::kJson}}))
//
// Anything else is an error that names the words. Pure; callable from any thread.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti::cli {

// For options bound to a variable of type Value, an enumeration.
template <typename Value>
CLI::Validator OneOf(std::vector<std::pair<std::string, Value>> choices) {
  std::string words;  // "text|json", which help and completion show
  std::string list;   // "text, json"
  for (const auto& [word, value] : choices) {
    words += (words.empty() ? "" : "|") + word;
    list += (list.empty() ? "" : ", ") + word;
  }
  const auto replace = [choices = std::move(choices), list](std::string& text) {
    for (const auto& [word, value] : choices) {
      if (text != word) continue;
      // CLI11 reads an enumeration's value as a number.
      text = std::to_string(static_cast<std::underlying_type_t<Value>>(value));
      return std::string();
    }
    return "\"" + text + "\" is none of " + list;
  };
  return CLI::Validator(replace, words);
}

// For counts.
inline CLI::Validator NotNegative() {
  const auto check = [](std::string& text) {
    return text.starts_with("-") ? "must be 0 or more, not " + text : std::string();
  };
  return CLI::Validator(check, "");
}

}  // namespace tutti::cli
