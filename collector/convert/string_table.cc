#include "collector/convert/string_table.h"

#include "common/text.h"

namespace tutti::collector::convert {

StringTable::StringTable(uint32_t capacity, RowOutput& rows)
    : rows_(rows), entries_(capacity), next_own_id_(capacity) {
  WriteRow(0, "");
}

void StringTable::Define(uint32_t index, std::string_view bytes) {
  if (index == 0 || index >= entries_.size() || entries_[index].defined) return;
  Entry& entry = entries_[index];
  entry.text = ToStorableText(bytes);
  entry.defined = true;
  const auto [first, is_new] = index_of_text_.try_emplace(entry.text, index);
  // Threads of the tracer that race to intern one text may both publish it.
  if (!is_new && !entry.referenced) entry.same_as = first->second;
  if (entry.referenced && !entry.written) {
    WriteRow(index, entry.text);
    entry.written = true;
  }
}

int64_t StringTable::IdOf(uint32_t index) {
  if (index == 0) return 0;
  if (index >= entries_.size()) {
    ++invalid_references_;
    return Intern("(invalid string reference)");
  }
  if (entries_[index].same_as != 0) index = entries_[index].same_as;
  Entry& entry = entries_[index];
  entry.referenced = true;
  if (entry.defined && !entry.written) {
    WriteRow(index, entry.text);
    entry.written = true;
  }
  return index;
}

std::string_view StringTable::TextOf(uint32_t index) const {
  return index < entries_.size() ? std::string_view(entries_[index].text) : std::string_view();
}

int64_t StringTable::Intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::string clean = ToStorableText(text);
  if (const auto tracers = index_of_text_.find(clean); tracers != index_of_text_.end()) {
    return IdOf(tracers->second);
  }
  const auto [own, is_new] = own_.try_emplace(clean, next_own_id_);
  if (is_new) WriteRow(next_own_id_++, clean);
  return own->second;
}

int64_t StringTable::WriteMissing() {
  int64_t missing = 0;
  for (size_t index = 1; index < entries_.size(); ++index) {
    Entry& entry = entries_[index];
    if (!entry.referenced || entry.written) continue;
    WriteRow(static_cast<int64_t>(index), "(lost string " + std::to_string(index) + ")");
    entry.written = true;
    ++missing;
  }
  return missing;
}

void StringTable::WriteRow(int64_t id, std::string_view text) {
  rows_.Append(schema::StringRow{id, std::string(text)});
}

}  // namespace tutti::collector::convert
