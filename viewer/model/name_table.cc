#include "viewer/model/name_table.h"

namespace tutti::viewer {

NameId NameTable::Intern(std::string_view text) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  }
  const std::unique_lock lock(mutex_);
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const auto id = static_cast<NameId>(texts_.size());
  ids_.emplace(texts_.emplace_back(text), id);
  return id;
}

std::string_view NameTable::Text(NameId id) const {
  const std::shared_lock lock(mutex_);
  return id < texts_.size() ? std::string_view(texts_[id]) : std::string_view();
}

size_t NameTable::size() const {
  const std::shared_lock lock(mutex_);
  return texts_.size();
}

}  // namespace tutti::viewer
