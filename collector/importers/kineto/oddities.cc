#include "collector/importers/kineto/oddities.h"

#include <algorithm>

namespace tutti::collector::importers::kineto {

void Ledger::Count(const Oddity& oddity, int64_t offset, std::optional<int64_t> time_ns,
                   int64_t count, std::string_view about) {
  const bool is_full = entries_.size() >= kMostKinds;
  Entry& entry = entries_[{&oddity, is_full ? std::string("others") : std::string(about)}];
  if (entry.count == 0) entry.offset = offset;
  entry.count += count;
  if (!time_ns) return;
  entry.first_ns = std::min(entry.first_ns.value_or(*time_ns), *time_ns);
  entry.last_ns = std::max(entry.last_ns.value_or(*time_ns), *time_ns);
}

int64_t Ledger::CountOf(const Oddity& oddity) const {
  int64_t count = 0;
  for (const auto& [key, entry] : entries_) {
    if (key.first == &oddity) count += entry.count;
  }
  return count;
}

void Ledger::Flush(TraceSink& sink) {
  for (const auto& [key, entry] : entries_) {
    const std::string where = entry.offset < 0 ? "" : "byte " + std::to_string(entry.offset);
    sink.Count(*key.first, where, entry.first_ns, entry.count, key.second);
    if (entry.last_ns && entry.last_ns != entry.first_ns) {
      sink.Count(*key.first, where, entry.last_ns, 0, key.second);
    }
  }
  entries_.clear();
}

}  // namespace tutti::collector::importers::kineto
