#include "collector/importers/kineto/json_tokens.h"

#include <bit>

namespace tutti::collector::importers::kineto {

bool JsonTokens::Scan(std::string_view text) {
  text_ = text.data();
  count_ = at_ = 0;
  if (scanner_ == nullptr || scanner_->capacity() < text.size()) {
    constexpr size_t kNoDepth = 1;  // only the second stage has a stack
    scanner_.reset();
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(
            std::bit_ceil(text.size()), kNoDepth, scanner_) != simdjson::SUCCESS) {
      return false;
    }
  }
  if (scanner_->stage1(reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                       simdjson::stage1_mode::regular) != simdjson::SUCCESS) {
    return false;
  }
  index_ = scanner_->structural_indexes.get();
  count_ = scanner_->n_structural_indexes;
  return true;
}

// To the token after the bracket that closes the one here.
bool JsonTokens::SkipContainer() {
  for (size_t depth = 0; at_ < count_;) {
    const char c = text_[index_[at_++]];
    if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace tutti::collector::importers::kineto
