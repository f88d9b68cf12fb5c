// A window over the bytes of a source that slides forward; the only place where the text of
// a trace is held. It grows from `initial` bytes to at most `maximum` when asked to.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/importers/byte_source.h"

namespace tutti::collector::importers::kineto {

class Window {
 public:
  // Bytes that may be read behind the text, as parsers with wide loads do.
  static constexpr size_t kPadding = 64;

  Window(ByteSource& source, size_t initial, size_t maximum);

  // The text not yet consumed.
  std::string_view text() const { return {data(), size_}; }
  char* data() { return buffer_.data() + begin_; }
  const char* data() const { return buffer_.data() + begin_; }
  size_t size() const { return size_; }
  size_t capacity() const { return buffer_.size() - kFront - kPadding; }
  size_t maximum() const { return maximum_; }
  // Where text() begins in the document.
  int64_t offset() const { return offset_; }

  // A writable byte stands before data(): at least one of a consumed text, or spare.
  void Consume(size_t bytes);

  // Reads until the window is full or the source has ended; true if something came.
  bool Fill();
  // Doubles the room up to the maximum and fills it; false if nothing came of it.
  bool Grow();

  // The source has ended or failed and all of it is in the window.
  bool at_end() const { return at_end_; }
  // Why the source ended early; ok: it did not.
  const Status& failure() const { return failure_; }

 private:
  static constexpr size_t kFront = 1;

  ByteSource& source_;
  size_t maximum_;
  std::vector<char> buffer_;
  size_t begin_ = kFront;
  size_t size_ = 0;
  int64_t offset_ = 0;
  bool at_end_ = false;
  Status failure_;
};

}  // namespace tutti::collector::importers::kineto
