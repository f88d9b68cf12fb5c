#include "collector/importers/kineto/window.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace tutti::collector::importers::kineto {

Window::Window(ByteSource& source, size_t initial, size_t maximum)
    : source_(source), maximum_(maximum), buffer_(kFront + initial + kPadding) {}

void Window::Consume(size_t bytes) {
  assert(bytes <= size_);
  begin_ += bytes;
  size_ -= bytes;
  offset_ += static_cast<int64_t>(bytes);
}

bool Window::Fill() {
  if (at_end_ || size_ == capacity()) return false;
  if (begin_ != kFront) std::memmove(buffer_.data() + kFront, data(), size_);
  begin_ = kFront;
  const size_t before = size_;
  while (size_ < capacity()) {
    const Result<size_t> got = source_.Read(data() + size_, capacity() - size_);
    if (!got.ok()) failure_ = got.status();
    at_end_ = !got.ok() || *got == 0;
    if (at_end_) break;
    size_ += *got;
  }
  std::memset(data() + size_, 0, kPadding);
  return size_ > before;
}

bool Window::Grow() {
  if (at_end_ || capacity() >= maximum_) return Fill();
  buffer_.resize(kFront + std::min(maximum_, capacity() * 2) + kPadding);
  return Fill();
}

}  // namespace tutti::collector::importers::kineto
