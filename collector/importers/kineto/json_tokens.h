// The tokens of a JSON text, found by the first stage of simdjson, which also sees to it that
// strings are closed, free of control bytes and UTF-8. A cursor goes over them; the grammar is
// checked by who moves it. Nothing recurses, so depth costs nothing.
// One thread; memory is kept from text to text.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "collector/importers/kineto/json_text.h"

namespace tutti::collector::importers::kineto {

class JsonTokens {
 public:
  // Finds the tokens of a text, which must stay, and goes to the first. False: it is not valid.
  bool Scan(std::string_view text);

  bool AtEnd() const { return at_ == count_; }
  bool Is(char c) const { return !AtEnd() && text_[index_[at_]] == c; }
  // Where the token begins in the text; at the end the text's size.
  size_t Offset() const { return index_[at_]; }
  void Next() { ++at_; }
  // Takes this token if it is `c`.
  bool Take(char c) {
    const bool is = Is(c);
    at_ += is ? 1 : 0;
    return is;
  }
  // Takes a string and the colon after it; `key` is the string without its quotes.
  bool TakeKey(std::string_view& key) {
    if (count_ - at_ < 2 || text_[index_[at_]] != '"' || text_[index_[at_ + 1]] != ':')
      return false;
    key = Between(index_[at_] + 1, index_[at_ + 1]);
    key.remove_suffix(1);
    at_ += 2;
    return true;
  }
  // Takes a value: of an array or object all of its text.
  bool TakeValue(std::string_view& value) {
    if (AtEnd()) return false;
    const size_t begin = index_[at_];
    switch (text_[begin]) {
      case '{':
      case '[':
        if (!SkipContainer()) return false;
        break;
      case '}':
      case ']':
      case ',':
      case ':':
        return false;
      default:
        ++at_;
    }
    value = Between(begin, index_[at_]);
    return true;
  }

 private:
  // Without white space at the end; there is something else.
  std::string_view Between(size_t begin, size_t end) const {
    while (IsJsonSpace(text_[end - 1])) --end;
    return {text_ + begin, end - begin};
  }
  bool SkipContainer();

  std::unique_ptr<simdjson::internal::dom_parser_implementation> scanner_;
  const char* text_ = nullptr;
  const uint32_t* index_ = nullptr;  // of each token; behind the last the text's size
  size_t count_ = 0;
  size_t at_ = 0;
};

}  // namespace tutti::collector::importers::kineto
