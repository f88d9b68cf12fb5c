// Which rows are wanted, as typed: "ranks:0-3,8 category:copy stream". Words that begin with
// "ranks:" or "category:" say what they say; all others together are part of a row's label. Value
// type.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viewer/model/category.h"

namespace tutti::viewer {

struct RowFilter {
  // First and last rank of each stretch. One that is not fully typed yet says nothing.
  std::optional<std::vector<std::pair<int64_t, int64_t>>> ranks;
  // Those whose names begin as typed; none: no row has it.
  std::optional<std::bitset<kCategories>> categories;
  std::string text;

  bool is_empty() const { return !ranks && !categories && text.empty(); }
  bool WantsRank(int64_t rank) const;
  bool WantsLabel(std::string_view label) const;
};

RowFilter ParseRowFilter(std::string_view typed);

// The word that asks for a category: "category:copy".
std::string FilterFor(Category category);

bool ContainsIgnoringCase(std::string_view text, std::string_view part);

}  // namespace tutti::viewer
