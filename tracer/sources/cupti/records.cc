#include "tracer/sources/cupti/records.h"

#include <cstdlib>
#include <cstring>
#include <ctime>

namespace tutti::tracer::cupti {
namespace {

constexpr int64_t kWaitNs = 1'000'000;

template <typename T>
T Read(const uint8_t* record, uint16_t offset) noexcept {
  T value;
  std::memcpy(&value, record + offset, sizeof(value));
  return value;
}

// A text that |record| points to; "" for none.
const char* TextAt(const uint8_t* record, size_t bytes, uint16_t offset) noexcept {
  if (offset + sizeof(const char*) > bytes) return "";
  const char* text = Read<const char*>(record, offset);
  return text != nullptr ? text : "";
}

uint32_t InternAt(Entry& entry, const uint8_t* record, size_t bytes, uint16_t offset) noexcept {
  const char* text = TextAt(record, bytes, offset);
  return entry.Intern(text, std::strlen(text));
}

// Waits for the collector to make room; false if it does not in |patience_ns|.
bool WaitForRoom(Entry& entry, uint32_t cells, int64_t patience_ns) noexcept {
  const int64_t deadline_ns = MonotonicNs() + patience_ns;
  while (!entry.HasRoomFor(cells)) {
    if (MonotonicNs() >= deadline_ns) return false;
    const timespec pause{0, kWaitNs};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace

uint32_t RecordWriter::ApiNameOf(Entry& entry, int kind, const uint8_t* record) noexcept {
  const int domain = kind == kRuntime ? kRuntimeDomain : kDriverDomain;
  const auto id = Read<uint32_t>(record, kApiCallbackIdOffset);
  if (epoch_ != entry.epoch()) {
    epoch_ = entry.epoch();
    std::memset(api_names_, 0, sizeof(api_names_));
  }
  uint32_t unused = 0;
  uint32_t& known = id < kMaxCallbackId ? api_names_[domain - kDriverDomain][id] : unused;
  if (known != 0) return known;
  const char* name = nullptr;
  if (library_.functions.callback_name(domain, id, &name) != kSuccess || name == nullptr) return 0;
  dump_.CallName(domain, id, name);
  return known = entry.Intern(name, std::strlen(name));
}

// After its pointers were followed for the last time.
void RecordWriter::PrepareForDump(uint8_t* record, size_t bytes, uint32_t name) noexcept {
  const int kind = Read<int>(record, 0);
  for (const PointerField& field : kPointerFields) {
    if (field.kind == kind && field.is_text) dump_.Text(name, TextAt(record, bytes, field.offset));
  }
  Dump::ReplacePointers(record, bytes, name);
}

uint32_t RecordWriter::NameOf(Entry& entry, int kind, const uint8_t* record,
                              size_t bytes) noexcept {
  if (kind == kRuntime || kind == kDriver) return ApiNameOf(entry, kind, record);
  for (const PointerField& field : kPointerFields) {
    if (field.kind == kind && field.is_text) return InternAt(entry, record, bytes, field.offset);
  }
  return wire::kNoString;
}

uint32_t RecordWriter::WriteRecord(Entry& entry, const uint8_t* record, size_t bytes,
                                   int64_t patience_ns) noexcept {
  const int kind = Read<int>(record, 0);
  if (bytes > wire::kMaxActivityBytes) {
    ++too_long_;
    return wire::kNoString;
  }
  ++records_;
  const uint32_t name = NameOf(entry, kind, record, bytes);
  const size_t total = sizeof(wire::ActivityRecord) + bytes;
  const auto cells = static_cast<uint8_t>((total + wire::kCellBytes - 1) / wire::kCellBytes);
  const wire::ActivityRecord head{
      .header = HeaderOf(wire::RecordKind::kActivity, name, 0, cells),
      .cupti_version = library_.version,
      .bytes = static_cast<uint16_t>(bytes),
      .reserved0 = 0,
      .detail = kind == kJit ? InternAt(entry, record, bytes, kJitCachePathOffset) : 0,
      .reserved1 = 0};
  alignas(8) std::byte buffer[wire::kMaxRecordCells * wire::kCellBytes];
  std::memcpy(buffer, &head, sizeof(head));
  std::memcpy(buffer + sizeof(head), record, bytes);
  std::memset(buffer + total, 0, cells * wire::kCellBytes - total);
  WaitForRoom(entry, cells, patience_ns);  // if in vain, the record is dropped and counted
  entry.EmitCells(buffer, cells);
  return name;
}

void RecordWriter::WriteBuffer(Entry& entry, uint8_t* data, size_t valid_bytes,
                               int64_t patience_ns) noexcept {
  uint8_t* next = nullptr;
  Result result = library_.functions.next_record(data, valid_bytes, &next);
  while (result == kSuccess) {
    uint8_t* const record = next;
    result = library_.functions.next_record(data, valid_bytes, &next);
    const uint8_t* const end = result == kSuccess ? next : data + valid_bytes;
    const auto bytes = static_cast<size_t>(end - record);
    const uint32_t name = WriteRecord(entry, record, bytes, patience_ns);
    if (Read<int>(record, 0) == kOverhead && kOverheadDataOffset + sizeof(void*) <= bytes) {
      std::free(Read<void*>(record, kOverheadDataOffset));
    }
    if (dump_.is_open()) PrepareForDump(record, bytes, name);
  }
  if (dump_.is_open()) dump_.Buffer(data, valid_bytes);
}

}  // namespace tutti::tracer::cupti
