// Every name of a run once, by number. Thread-safe: loader threads add names while the
// interface reads them; a name never moves.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tutti::viewer {

using NameId = uint32_t;

class NameTable {
 public:
  NameId Intern(std::string_view text);
  // Valid as long as the table.
  std::string_view Text(NameId id) const;
  size_t size() const;

 private:
  mutable std::shared_mutex mutex_;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, NameId> ids_;  // keys point into texts_
};

}  // namespace tutti::viewer
