#include "tracer/sources/nvtx/event.h"

#include <bit>
#include <cstring>

#include "tracer/sources/nvtx/payload.h"

namespace tutti::tracer::nvtx {
namespace {

using wire::PayloadType;

// Bytes of attributes that are read: all of nvtxEventAttributes_v2.
constexpr uint16_t kAttributeBytes = sizeof(nvtxEventAttributes_v2);

uint32_t InternMessage(Entry& entry, const Event& event) noexcept {
  switch (event.message_type) {
    case NVTX_MESSAGE_TYPE_ASCII:
      if (event.message.ascii == nullptr) return wire::kNoString;
      return entry.Intern(event.message.ascii, std::strlen(event.message.ascii));
    case NVTX_MESSAGE_TYPE_UNICODE:
      return InternWide(entry, event.message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      String* string = StringOf(event.message.registered);
      return string != nullptr ? string->text.Index(entry) : wire::kNoString;
    }
    default:
      return wire::kNoString;
  }
}

void ResolvePayload(const nvtxEventAttributes_t& attributes, EventFields* fields) noexcept {
  const auto& value = attributes.payload;
  switch (attributes.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      fields->payload_type = PayloadType::kUint64;
      fields->payload = value.ullValue;
      break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      fields->payload_type = PayloadType::kUint64;
      fields->payload = value.uiValue;
      break;
    case NVTX_PAYLOAD_TYPE_INT64:
      fields->payload_type = PayloadType::kInt64;
      fields->payload = std::bit_cast<uint64_t>(value.llValue);
      break;
    case NVTX_PAYLOAD_TYPE_INT32:
      fields->payload_type = PayloadType::kInt64;
      fields->payload = std::bit_cast<uint64_t>(int64_t{value.iValue});
      break;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      fields->payload_type = PayloadType::kDouble;
      fields->payload = std::bit_cast<uint64_t>(value.dValue);
      break;
    case NVTX_PAYLOAD_TYPE_FLOAT:
      fields->payload_type = PayloadType::kDouble;
      fields->payload = std::bit_cast<uint64_t>(double{value.fValue});
      break;
    default:
      break;  // none, or an extended one: PayloadRecords hold it
  }
}

}  // namespace

Event Event::Of(const char* ascii) noexcept {
  Event event;
  event.message_type = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = ascii;
  return event;
}

Event Event::Of(const wchar_t* wide) noexcept {
  Event event;
  event.message_type = NVTX_MESSAGE_TYPE_UNICODE;
  event.message.unicode = wide;
  return event;
}

Event Event::Of(const nvtxEventAttributes_t* attributes) noexcept {
  Event event;
  if (attributes == nullptr || attributes->size < kAttributeBytes) return event;
  event.attributes = attributes;
  event.message_type = attributes->messageType;
  event.message = attributes->message;
  if (attributes->payloadType == NVTX_PAYLOAD_TYPE_EXT && attributes->reserved0 > 0) {
    event.payloads = std::bit_cast<const nvtxPayloadData_t*>(attributes->payload.ullValue);
    event.payload_count = static_cast<size_t>(attributes->reserved0);
  }
  return event;
}

Event Event::Of(const nvtxPayloadData_t* payloads, size_t count) noexcept {
  Event event;
  event.payloads = payloads;
  event.payload_count = payloads != nullptr ? count : 0;
  return event;
}

EventFields ResolveFields(Entry& entry, Domain& domain, const Event& event) noexcept {
  EventFields fields;
  fields.name = InternMessage(entry, event);
  if (fields.name == wire::kNoString && event.payload_count != 0) {
    fields.name = PayloadMessage(entry, domain, event);
  }
  if (event.attributes == nullptr) return fields;
  fields.category = event.attributes->category;
  fields.category_name = CategoryIndex(entry, domain, fields.category);
  if (event.attributes->colorType == NVTX_COLOR_ARGB) fields.argb = event.attributes->color;
  ResolvePayload(*event.attributes, &fields);
  return fields;
}

std::string_view MessageText(const Event& event) noexcept {
  if (event.message_type == NVTX_MESSAGE_TYPE_ASCII && event.message.ascii != nullptr) {
    return event.message.ascii;
  }
  if (event.message_type == NVTX_MESSAGE_TYPE_REGISTERED) {
    if (const String* string = StringOf(event.message.registered)) return string->text.text();
  }
  return {};
}

size_t Utf8FromWide(const wchar_t* text, char* out, size_t capacity) noexcept {
  static_assert(sizeof(wchar_t) == 4);
  size_t length = 0;
  for (; *text != 0; ++text) {
    auto code = std::bit_cast<uint32_t>(*text);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    const size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (length + bytes > capacity) break;
    if (bytes == 1) {
      out[length++] = static_cast<char>(code);
      continue;
    }
    constexpr uint8_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = bytes; i-- > 1; code >>= 6) {
      out[length + i] = static_cast<char>(0x80 | (code & 0x3f));
    }
    out[length] = static_cast<char>(kLead[bytes] | code);
    length += bytes;
  }
  return length;
}

uint32_t InternWide(Entry& entry, const wchar_t* text) noexcept {
  if (text == nullptr) return wire::kNoString;
  return entry.InternText(WideText(text).text());
}

}  // namespace tutti::tracer::nvtx
