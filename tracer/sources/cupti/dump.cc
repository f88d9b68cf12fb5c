#include "tracer/sources/cupti/dump.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tracer/sources/cupti/abi.h"

namespace tutti::tracer::cupti {

bool Dump::Open(uint32_t cupti_version) noexcept {
  const char* name = secure_getenv("TUTTI_CUPTI_DUMP");
  if (name == nullptr || *name == '\0') return false;
  char path[4096];
  const int length = std::snprintf(path, sizeof(path), "%s.%d", name, getpid());
  if (length < 0 || static_cast<size_t>(length) >= sizeof(path)) return false;
  file_ = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) return false;
  wire::ActivityDumpHeader header{};
  std::memcpy(header.magic, wire::kActivityDumpMagic, sizeof(header.magic));
  header.format = wire::kActivityDumpFormat;
  header.cupti_version = cupti_version;
  if (write(file_, &header, sizeof(header)) != sizeof(header)) Close();
  return is_open();
}

void Dump::Close() noexcept {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

void Dump::Write(wire::ActivityDumpKind kind, uint64_t key, const void* data,
                 size_t bytes) noexcept {
  if (!is_open()) return;
  const wire::ActivityDumpChunk chunk{kind, static_cast<uint32_t>(bytes), key};
  const size_t total = sizeof(chunk) + bytes;
  if (written_ + total > kMaxBytes) return Close();
  iovec parts[] = {{const_cast<wire::ActivityDumpChunk*>(&chunk), sizeof(chunk)},
                   {const_cast<void*>(data), bytes}};
  if (writev(file_, parts, 2) != static_cast<ssize_t>(total)) return Close();
  written_ += total;
}

void Dump::Text(uint32_t number, const char* text) noexcept {
  if (number < kTexts) {
    uint8_t& told = told_[number / 8];
    const auto bit = static_cast<uint8_t>(1u << (number % 8));
    if ((told & bit) != 0) return;
    told = static_cast<uint8_t>(told | bit);
  }
  Write(wire::ActivityDumpKind::kText, number, text, std::strlen(text));
}

void Dump::CallName(int domain, uint32_t callback_id, const char* name) noexcept {
  Write(wire::ActivityDumpKind::kCallName, (static_cast<uint64_t>(domain) << 32) | callback_id,
        name, std::strlen(name));
}

void Dump::ReplacePointers(uint8_t* record, size_t bytes, uint32_t text) noexcept {
  int kind = 0;
  std::memcpy(&kind, record, sizeof(kind));
  for (const PointerField& field : kPointerFields) {
    if (field.kind != kind || field.offset + sizeof(uint64_t) > bytes) continue;
    const uint64_t value = field.is_text ? text : 0;
    std::memcpy(record + field.offset, &value, sizeof(value));
  }
}

void Dump::Buffer(const uint8_t* data, size_t valid_bytes) noexcept {
  Write(wire::ActivityDumpKind::kBuffer, buffers_++, data, valid_bytes);
}

}  // namespace tutti::tracer::cupti
