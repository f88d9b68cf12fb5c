#include "tracer/sources/nvtx/ranges.h"

#include "tracer/core/session.h"
#include "tracer/sources/nvtx/payload.h"

namespace tutti::tracer::nvtx {
namespace {

using wire::RecordKind;

constexpr int kNothingOpen = -1;

// Calls that say nothing about whether the process will communicate: torch's launcher and
// version queries make them too.
bool IsCommunicatorActivity(std::string_view function) noexcept {
  return function.starts_with("nccl") && function != "ncclGetUniqueId" &&
         function != "ncclGroupStart" && function != "ncclGroupEnd" && function != "ncclGetVersion";
}

bool PromoteFor(const Domain& domain, const Event& event) noexcept {
  if (domain.role == DomainRole::kAnnotations) return Promote("annotate");
  const std::string_view function = MessageText(event);  // NCCL's are zero-terminated
  return IsCommunicatorActivity(function) && Promote(function.data());
}

// Whether events are recorded; for a candidate, whether this one made it a rank.
bool Ready(const Domain& domain, const Event& event) noexcept {
  if (Active()) return true;
  return domain.role != DomainRole::kPlain && IsCandidate() && PromoteFor(domain, event);
}

// Annotations are the skeleton of every analysis, so they are kept whatever is switched off.
bool IsCaptured(const Entry& entry, const Domain& domain) noexcept {
  switch (domain.role) {
    case DomainRole::kAnnotations:
      return true;
    case DomainRole::kNccl:
      return entry.Captures(wire::kCaptureNvtx | wire::kCaptureNccl);
    case DomainRole::kPlain:
      break;
  }
  return entry.Captures(wire::kCaptureNvtx);
}

// 0 for the default domain, which has no name.
uint32_t DomainIndex(Entry& entry, Domain& domain) noexcept { return domain.name.Index(entry); }

// Ids of our own: a tag that tells them from those of a chained tool, a number, and whether the
// begin was recorded, so that no end is recorded without its begin.
constexpr nvtxRangeId_t kOwnRangeIds = 0x5455'0000'0000'0000;
constexpr nvtxRangeId_t kRangeIdTag = 0xffff'0000'0000'0000;

nvtxRangeId_t MakeRangeId(bool recorded) noexcept {
  static constinit std::atomic<nvtxRangeId_t> last{0};
  const nvtxRangeId_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return kOwnRangeIds | (number << 1 & ~kRangeIdTag) | (recorded ? 1 : 0);
}

bool IsOwnRangeId(nvtxRangeId_t id) noexcept { return (id & kRangeIdTag) == kOwnRangeIds; }
bool WasRecorded(nvtxRangeId_t id) noexcept { return (id & 1) != 0; }

uint16_t NextDepth(Entry& entry, const Domain& domain) noexcept {
  const wire::OpenSpan* below = entry.FindSpan(domain.identity());
  return below != nullptr ? static_cast<uint16_t>(wire::RangeDepth(below->aux2) + 1) : 0;
}

}  // namespace

int Push(Domain& domain, const Event& event) noexcept {
  if (!Ready(domain, event)) return NVTX_NO_PUSH_POP_TRACKING;
  Entry entry(kCaptureAlways);
  if (!entry || !entry.has_ring()) return NVTX_NO_PUSH_POP_TRACKING;
  const uint16_t depth = NextDepth(entry, domain);
  wire::OpenSpan span{};
  span.identity = domain.identity();
  span.kind = static_cast<uint8_t>(RecordKind::kRange);
  if (IsCaptured(entry, domain)) {
    const EventFields fields = ResolveFields(entry, domain, event);
    span.name = fields.name;
    span.aux = fields.payload;
    span.domain = DomainIndex(entry, domain);
    span.category = fields.category;
    span.aux2 =
        wire::PackRangeDetail(fields.argb, depth, static_cast<uint8_t>(fields.payload_type));
    span.begin_ticks = entry.Now();
    EmitPayloads(entry, domain, event, span.begin_ticks);
  } else {
    // Still on the stack: its pop must not end the range around it.
    span.flags = wire::kSpanNotCaptured;
    span.aux2 = wire::PackRangeDetail(0, depth, 0);
  }
  entry.BeginSpan(span);
  return depth;
}

int Pop(Domain& domain, const Event& event) noexcept {
  if (!Active()) return NVTX_NO_PUSH_POP_TRACKING;
  Entry entry(kCaptureAlways);
  if (!entry) return NVTX_NO_PUSH_POP_TRACKING;
  const uint64_t end_ticks = entry.Now();
  const EndedSpan ended = entry.EndSpan(domain.identity());
  if (ended.outcome == EndedSpan::Outcome::kDropped) return NVTX_NO_PUSH_POP_TRACKING;
  if (ended.outcome == EndedSpan::Outcome::kElsewhere) {
    if (IsCaptured(entry, domain)) entry.CountLoss(wire::LossReason::kUnbalancedEnd);
    return kNothingOpen;
  }
  const wire::OpenSpan span = *ended.span;
  const uint16_t depth = wire::RangeDepth(span.aux2);
  if ((span.flags & wire::kSpanNotCaptured) != 0) return depth;
  const uint32_t renamed =
      event.payload_count != 0 ? ResolveFields(entry, domain, event).name : wire::kNoString;
  EmitPayloads(entry, domain, event, span.begin_ticks);
  entry.Emit(wire::RangeRecord{
      .header = HeaderOf(RecordKind::kRange, renamed != wire::kNoString ? renamed : span.name),
      .begin_ticks = span.begin_ticks,
      .end_ticks = end_ticks,
      .payload = span.aux,
      .domain = span.domain,
      .category = span.category,
      .category_name = CategoryIndex(entry, domain, span.category),
      .argb = wire::RangeArgb(span.aux2),
      .depth = depth,
      .payload_type = static_cast<wire::PayloadType>(wire::RangePayloadType(span.aux2)),
      .reserved0 = 0,
      .reserved1 = 0,
      .reserved2 = 0});
  return depth;
}

void Mark(Domain& domain, const Event& event) noexcept {
  if (!Ready(domain, event)) return;
  Entry entry(kCaptureAlways);
  if (!entry || !IsCaptured(entry, domain)) return;
  const uint64_t ticks = entry.Now();
  const EventFields fields = ResolveFields(entry, domain, event);
  EmitPayloads(entry, domain, event, ticks);
  entry.Emit(wire::MarkRecord{.header = HeaderOf(RecordKind::kMark, fields.name),
                              .ticks = ticks,
                              .payload = fields.payload,
                              .domain = DomainIndex(entry, domain),
                              .category = fields.category,
                              .category_name = fields.category_name,
                              .argb = fields.argb,
                              .payload_type = fields.payload_type,
                              .reserved0 = {},
                              .reserved1 = {}});
}

nvtxRangeId_t Start(Domain& domain, const Event& event, nvtxRangeId_t chained_id) noexcept {
  const bool ready = Ready(domain, event);
  Entry entry(kCaptureAlways);
  const bool recorded = ready && entry && IsCaptured(entry, domain);
  const nvtxRangeId_t id = chained_id != 0 ? chained_id : MakeRangeId(recorded);
  if (!recorded) return id;
  const EventFields fields = ResolveFields(entry, domain, event);
  const uint32_t domain_index = DomainIndex(entry, domain);
  const uint64_t ticks = entry.Now();
  EmitPayloads(entry, domain, event, ticks);
  entry.Emit(wire::RangeStartRecord{.header = HeaderOf(RecordKind::kRangeStart, fields.name),
                                    .ticks = ticks,
                                    .range_id = id,
                                    .payload = fields.payload,
                                    .domain = domain_index,
                                    .category = fields.category,
                                    .category_name = fields.category_name,
                                    .argb = fields.argb,
                                    .payload_type = fields.payload_type,
                                    .reserved0 = {},
                                    .reserved1 = 0});
  return id;
}

void End(Domain& domain, const Event& event, nvtxRangeId_t id) noexcept {
  if (!Active()) return;
  Entry entry(kCaptureAlways);
  if (!entry) return;
  if (IsOwnRangeId(id) ? !WasRecorded(id) : !IsCaptured(entry, domain)) return;
  const uint64_t ticks = entry.Now();
  EmitPayloads(entry, domain, event, ticks);
  entry.Emit(wire::RangeEndRecord{.header = HeaderOf(RecordKind::kRangeEnd, wire::kNoString),
                                  .ticks = ticks,
                                  .range_id = id,
                                  .reserved = {}});
}

}  // namespace tutti::tracer::nvtx
