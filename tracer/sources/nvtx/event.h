// One NVTX event, whichever of the API's forms a program gave it in, and what of it goes
// into a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracer/core/entry.h"
#include "tracer/sources/nvtx/abi.h"
#include "tracer/sources/nvtx/registry.h"

namespace tutti::tracer::nvtx {

// The arguments of a call. Refers to the caller's memory; lives as long as the call.
struct Event {
  int32_t message_type = NVTX_MESSAGE_UNKNOWN;
  nvtxMessageValue_t message = {nullptr};
  const nvtxEventAttributes_t* attributes = nullptr;
  const nvtxPayloadData_t* payloads = nullptr;
  size_t payload_count = 0;

  static Event Of(const char* ascii) noexcept;
  static Event Of(const wchar_t* wide) noexcept;
  // Attributes that are null or shorter than they say an NVTX 2 or 3 event is: an event
  // without message, category and payload.
  static Event Of(const nvtxEventAttributes_t* attributes) noexcept;
  static Event Of(const nvtxPayloadData_t* payloads, size_t count) noexcept;
};

// What every kind of event record holds.
struct EventFields {
  uint32_t name = 0;
  uint32_t category = 0;
  uint32_t category_name = 0;
  uint32_t argb = 0;
  uint64_t payload = 0;
  wire::PayloadType payload_type = wire::PayloadType::kNone;
};

EventFields ResolveFields(Entry& entry, Domain& domain, const Event& event) noexcept;

// The message's text where that costs nothing to know: ASCII and registered ones.
std::string_view MessageText(const Event& event) noexcept;

// |text| as UTF-8 in |out|; returns the bytes written, at most |capacity|.
size_t Utf8FromWide(const wchar_t* text, char* out, size_t capacity) noexcept;

// Index of |text| (UTF-32 here, as wchar_t is on Linux) as UTF-8. Code points that are none
// become U+FFFD; what does not fit into kMaxStringBytes is cut.
uint32_t InternWide(Entry& entry, const wchar_t* text) noexcept;

// The same for text that is to be registered: its UTF-8, in a buffer of the object's own.
class WideText {
 public:
  explicit WideText(const wchar_t* text) noexcept
      : length_(Utf8FromWide(text, utf8_, sizeof(utf8_))) {}
  std::string_view text() const noexcept { return {utf8_, length_}; }

 private:
  char utf8_[wire::kMaxStringBytes] = {};
  size_t length_;
};

}  // namespace tutti::tracer::nvtx
