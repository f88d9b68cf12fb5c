#include "collector/drain/open_step.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "common/wire/record.h"
#include "common/wire/segment.h"

namespace tutti::collector::drain {
namespace {

constexpr std::string_view kDomain = "tutti";
constexpr uint32_t kStepCategory = 1;  // tutti_annotation of tracer/annotate.h

// Whether the string |index| is |text|; the process may change it under us.
bool IsText(const session::Segment& segment, uint32_t index, std::string_view text) {
  if (index == wire::kNoString || index >= segment.plan().shape.string_capacity) return false;
  const wire::StringEntry& entry = segment.string_entry(index);
  const auto arena = segment.string_arena();
  uint32_t offset = 0;
  uint32_t length = 0;
  std::memcpy(&offset, &entry.offset, sizeof(offset));
  std::memcpy(&length, &entry.length, sizeof(length));
  if (length != text.size() || offset > arena.size() || length > arena.size() - offset) {
    return false;
  }
  return std::memcmp(arena.data() + offset, text.data(), length) == 0;
}

}  // namespace

std::optional<int64_t> OpenStep(const session::Segment& segment) {
  std::optional<int64_t> step;
  for (uint32_t ring = 0; ring < segment.plan().ring_count; ++ring) {
    const wire::RingHeader& header = segment.ring(ring);
    if (header.owner.load(std::memory_order_acquire) != wire::RingOwner::kClaimed) continue;
    const uint32_t depth =
        std::min(header.open_depth.load(std::memory_order_acquire), wire::kOpenSpanDepth);
    for (uint32_t at = 0; at < depth; ++at) {
      wire::OpenSpan span;
      std::memcpy(&span, &header.open_spans[at], sizeof(span));
      if (span.kind != static_cast<uint8_t>(wire::RecordKind::kRange) ||
          span.category != kStepCategory || !IsText(segment, span.domain, kDomain)) {
        continue;
      }
      step = std::max(step.value_or(INT64_MIN), static_cast<int64_t>(span.aux));
    }
  }
  return step;
}

}  // namespace tutti::collector::drain
