// The slow ways of Entry's spans: deep ones, and ends that are not that of the innermost.
#include "tracer/core/entry.h"
#include "tracer/core/span_stack.h"

namespace tutti::tracer {
namespace {

using wire::RecordKind;

// Index of the innermost span with |identity| plus one, 0 if there is none.
uint32_t FindFromTop(ThreadState& thread, uint64_t identity) noexcept {
  uint32_t above = StoredSpans(thread);
  while (above > 0 && SpanAt(thread, above - 1).identity != identity) --above;
  return above;
}

void RemoveSpan(ThreadState& thread, uint32_t index) noexcept {
  const uint32_t last = thread.depth - 1;
  for (uint32_t i = index; i < last; ++i) SpanAt(thread, i) = SpanAt(thread, i + 1);
  StoreDepth(thread, last);
}

bool IsOperator(const wire::OpenSpan& span) noexcept {
  return span.kind != static_cast<uint8_t>(RecordKind::kRange);
}

}  // namespace

void Entry::BeginSpanSlow(const wire::OpenSpan& span) noexcept {
  if (thread_ == nullptr) return;  // its end counts the event
  if (thread_->depth < kMaxSpanDepth) {
    SpanAt(*thread_, thread_->depth) = span;
  } else if ((span.flags & wire::kSpanNotCaptured) == 0) {
    CountLoss(wire::LossReason::kTooDeep);
  }
  StoreDepth(*thread_, thread_->depth + 1);
}

EndedSpan Entry::EndSpanSlow(uint64_t identity) noexcept {
  if (thread_ == nullptr) {
    CountNoRing();
    return {EndedSpan::Outcome::kDropped, 0, nullptr};
  }
  ThreadState& thread = *thread_;
  if (thread.depth > kMaxSpanDepth) {
    StoreDepth(thread, thread.depth - 1);
    return {EndedSpan::Outcome::kDropped, 0, nullptr};
  }
  const uint32_t above = FindFromTop(thread, identity);
  if (above == 0) return {EndedSpan::Outcome::kElsewhere, 0, nullptr};
  const uint32_t index = above - 1;
  thread.ended = SpanAt(thread, index);
  RemoveSpan(thread, index);
  if (IsOperator(thread.ended)) DetachOperatorsAbove(index);
  // The detaching may have moved to a larger ring.
  if (thread_ != &thread) thread_->ended = thread.ended;
  return {EndedSpan::Outcome::kFound, static_cast<uint16_t>(index), &thread_->ended};
}

// Operators nest, so one that is still open over an ended one ends elsewhere. Its begin is
// told now, and the stack stays true for what comes.
void Entry::DetachOperatorsAbove(uint32_t index) noexcept {
  while (index < thread_->depth) {
    const wire::OpenSpan span = SpanAt(*thread_, index);
    if (!IsOperator(span)) {
      ++index;
      continue;
    }
    RemoveSpan(*thread_, index);
    if ((span.flags & wire::kSpanNotCaptured) != 0) continue;
    Emit(wire::AsyncBeginRecord{.header = HeaderOf(RecordKind::kAsyncBegin, span.name),
                                .ticks = span.begin_ticks,
                                .identity = span.identity,
                                .sequence_nr = -1,
                                .torch_tid = 0,
                                .forward_tid = 0,
                                .shapes = 0,
                                .depth = static_cast<uint16_t>(index),
                                .scope = span.scope,
                                .reserved0 = 0,
                                .reserved1 = 0});
  }
}

wire::OpenSpan* Entry::FindSpan(uint64_t identity) noexcept {
  if (thread_ == nullptr) return nullptr;
  const uint32_t above = FindFromTop(*thread_, identity);
  return above > 0 ? &SpanAt(*thread_, above - 1) : nullptr;
}

}  // namespace tutti::tracer
