// A source over text in memory, given out in pieces: for tests and fuzzers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "collector/importers/byte_source.h"

namespace tutti::collector::importers::kineto {

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text, size_t piece = SIZE_MAX)
      : text_(std::move(text)), piece_(piece) {}

  Result<size_t> Read(char* to, size_t size) override {
    const size_t count = std::min({size, piece_, text_.size() - at_});
    std::memcpy(to, text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  size_t piece_;
  size_t at_ = 0;
};

}  // namespace tutti::collector::importers::kineto
