#include "collector/convert/open_spans.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/wire/record.h"

namespace tutti::collector::convert {
namespace {

bool IsRange(const wire::OpenSpan& span) {
  return span.kind == static_cast<uint8_t>(wire::RecordKind::kRange);
}

uint32_t DepthOf(std::span<const wire::OpenSpan> stack, size_t at) {
  if (!IsRange(stack[at])) return static_cast<uint32_t>(at);
  const auto below = stack.first(at);
  return static_cast<uint32_t>(
      std::count_if(below.begin(), below.end(), [&](const wire::OpenSpan& span) {
        return IsRange(span) && span.domain == stack[at].domain;
      }));
}

}  // namespace

void OpenSpans::OnStack(uint32_t ring, ThreadTable::Index thread, spool::OpenSpansReason reason,
                        std::span<const wire::OpenSpan> stack) {
  std::vector<OpenSpanAt> open;
  for (size_t at = 0; at < stack.size(); ++at) {
    open.push_back({thread, stack[at], DepthOf(stack, at)});
  }
  // The last of the thread counts, and the last of the ring.
  std::erase_if(snapshots_, [&](const auto& snapshot) {
    return snapshot.first == thread || snapshot.second.ring == ring;
  });
  if (reason != spool::OpenSpansReason::kSnapshot) {
    final_.insert(final_.end(), open.begin(), open.end());
  } else if (!open.empty()) {
    snapshots_.emplace(thread, Snapshot{ring, std::move(open)});
  }
}

void OpenSpans::OnEnded(ThreadTable::Index thread, uint32_t name, uint64_t begin_ticks) {
  if (snapshots_.empty()) return;
  const auto snapshot = snapshots_.find(thread);
  if (snapshot == snapshots_.end()) return;
  std::vector<OpenSpanAt>& open = snapshot->second.open;
  // Innermost first: a function may call itself within one tick.
  const auto ended = std::find_if(open.rbegin(), open.rend(), [&](const OpenSpanAt& span) {
    return span.span.begin_ticks == begin_ticks && span.span.name == name;
  });
  if (ended != open.rend()) open.erase(std::next(ended).base());
}

std::vector<OpenSpanAt> OpenSpans::Take() {
  std::vector<OpenSpanAt> all = std::move(final_);
  for (const auto& [thread, snapshot] : snapshots_) {
    all.insert(all.end(), snapshot.open.begin(), snapshot.open.end());
  }
  snapshots_.clear();
  return all;
}

}  // namespace tutti::collector::convert
