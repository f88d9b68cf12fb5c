#include "collector/importers/kineto/span_pairs.h"

#include <xxhash.h>

#include <algorithm>

#include "collector/importers/kineto/json_text.h"

namespace tutti::collector::importers::kineto {
namespace {

// Asynchronous operations are told apart by category, id and scope, nested ones by name.
uint64_t AsyncKey(const RawEvent& event) {
  uint64_t key = 0;
  for (const std::string_view part : {event.category, WithoutQuotes(event.id), event.scope}) {
    key = XXH3_64bits_withSeed(part.data(), part.size(), key + 2);
  }
  return key;
}

}  // namespace

uint32_t SpanPairs::NameOf(std::string_view token) {
  if (names_.size() >= kMostNames) {
    // Rows that are written need no name any more.
    ProcessFirst(entries_.size());
    WriteOpen();
    names_.clear();
    name_places_.clear();
  }
  const auto [place, is_new] =
      name_places_.try_emplace(std::string(token), static_cast<uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(token);
  return place->second;
}

void SpanPairs::OnHalf(const RawEvent& event, char phase, int64_t domain_id) {
  const std::optional<int64_t> time_ns = context_.TimeOf(event);
  if (!time_ns) return;
  Entry entry;
  entry.time_ns = *time_ns;
  entry.is_async = phase != 'B' && phase != 'E';
  entry.track = static_cast<uint32_t>(context_.tracks.Of(event.pid, event.tid).index);
  entry.key = entry.is_async ? AsyncKey(event) : entry.track;
  entry.name_id = context_.strings.IdOf(event.name);
  entry.name = NameOf(event.name);
  entry.domain_id = domain_id;
  entry.offset = event.offset;
  const bool begins = phase == 'B' || phase == 'b' || phase == 'S';
  const bool ends = phase == 'E' || phase == 'e' || phase == 'F';
  entry.half = begins ? Half::kBegin : ends ? Half::kEnd : Half::kMark;
  entries_.push_back(entry);
  if (entries_.size() >= most_kept_) ProcessFirst(most_kept_ / 2);
}

void SpanPairs::ProcessFirst(size_t count) {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.time_ns < b.time_ns; });
  count = std::min(count, entries_.size());
  const auto last = entries_.begin() + static_cast<ptrdiff_t>(count);
  for (auto entry = entries_.begin(); entry != last; ++entry) Process(*entry);
  entries_.erase(entries_.begin(), last);
}

void SpanPairs::Process(const Entry& entry) {
  switch (entry.half) {
    case Half::kBegin:
      if (open_count_ >= most_kept_) WriteOpen();
      open_[entry.is_async ? entry.key : ~entry.key].push_back(entry);
      ++open_count_;
      break;
    case Half::kEnd:
      End(entry);
      break;
    case Half::kMark: {
      RangeSpan mark{entry.track, std::nullopt, "mark", entry.domain_id, names_[entry.name], {}};
      mark.times = {entry.time_ns, entry.time_ns};
      rows_.AddRange(mark);
      ++context_.events_read;
      break;
    }
  }
}

// Ends the innermost open span of that name, or without a name the innermost; not farther
// out than kFarthest.
void SpanPairs::End(const Entry& entry) {
  const auto open = open_.find(entry.is_async ? entry.key : ~entry.key);
  std::vector<Entry>* spans = open == open_.end() ? nullptr : &open->second;
  size_t after = spans == nullptr ? 0 : spans->size();
  const size_t lowest = after - std::min(after, kFarthest);
  while (after > lowest && entry.name_id != 0 && (*spans)[after - 1].name_id != entry.name_id) {
    --after;
  }
  if (after == lowest) {
    context_.ledger.Count(odd::kEndWithoutBegin, entry.offset, entry.time_ns);
    ++context_.events_skipped;
    return;
  }
  Write((*spans)[after - 1], &entry, after - 1);
  --open_count_;
  spans->erase(spans->begin() + static_cast<ptrdiff_t>(after) - 1);
  if (spans->empty()) open_.erase(open);
}

void SpanPairs::Write(const Entry& begin, const Entry* end, size_t depth) {
  RangeSpan span{begin.track,     std::nullopt,       begin.is_async ? "start_end" : "push_pop",
                 begin.domain_id, names_[begin.name], {begin.time_ns, std::nullopt}};
  if (end != nullptr) {
    span.end_track = end->track;
    span.times.end_ns = end->time_ns;
  }
  if (!begin.is_async) span.depth = static_cast<int64_t>(depth);
  rows_.AddRange(span);
  context_.events_read += end != nullptr ? 2 : 1;
}

// What is open was not ended in the file, or so late that it can't be waited for.
void SpanPairs::WriteOpen() {
  struct Left {
    Entry begin;
    size_t depth;
  };
  std::vector<Left> left;
  for (const auto& [key, spans] : open_) {
    for (size_t depth = 0; depth < spans.size(); ++depth) left.push_back({spans[depth], depth});
  }
  open_.clear();
  open_count_ = 0;
  std::sort(left.begin(), left.end(),
            [](const Left& a, const Left& b) { return a.begin.offset < b.begin.offset; });
  for (const Left& span : left) {
    context_.ledger.Count(odd::kBeginWithoutEnd, span.begin.offset, span.begin.time_ns);
    Write(span.begin, nullptr, span.depth);
  }
}

void SpanPairs::Finish() {
  ProcessFirst(entries_.size());
  WriteOpen();
}

}  // namespace tutti::collector::importers::kineto
