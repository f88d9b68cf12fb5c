// Numbers and texts one after the other in memory, as this machine has them; read with care.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace tutti::viewer {

class ByteWriter {
 public:
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void Put(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
  void PutText(std::string_view text) {
    Put(static_cast<uint32_t>(text.size()));
    bytes_ += text;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Beyond the end everything is 0 and ok() false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  requires std::is_trivially_copyable_v<T> T Get() {
    T value{};
    if (const std::byte* at = Take(sizeof(T))) std::memcpy(&value, at, sizeof(T));
    return value;
  }
  std::string_view GetText() {
    const auto size = Get<uint32_t>();
    const std::byte* at = Take(size);
    return at == nullptr ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(at), size);
  }
  // A number of things of which each takes at least `least_bytes`: no more than there can be.
  uint32_t GetCount(size_t least_bytes) {
    const auto count = Get<uint32_t>();
    if (count > bytes_.size() / least_bytes) ok_ = false;
    return ok_ ? count : 0;
  }
  bool ok() const { return ok_; }

 private:
  const std::byte* Take(size_t size) {
    ok_ = ok_ && size <= bytes_.size();
    if (!ok_) return nullptr;
    const std::byte* at = bytes_.data();
    bytes_ = bytes_.subspan(size);
    return at;
  }

  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

}  // namespace tutti::viewer
