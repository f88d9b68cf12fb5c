// Events added up by what they have in common. Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/model/event_set.h"
#include "viewer/model/name_table.h"
#include "viewer/model/run_summary.h"

namespace tutti::viewer {

enum class GroupBy : uint8_t { kName, kCategory, kRank, kRow, kStep, kCaller };
inline constexpr size_t kGroupings = 6;
const char* NameOf(GroupBy by);  // "name", "category", …

struct GroupTotal {
  std::string label;
  NameId name = 0;                      // of GroupBy::kName
  Category category = Category::kHost;  // of the first of it
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
};

// Of the events that overlap [begin_ns, end_ns), their time inside of it; most time first. An event
// belongs to the step that it begins in, one outside of all to "no step". Its caller is the call of
// its thread that it begins in; outermost calls, and what is no call, have "no caller". Events of
// steps themselves are left out where they are not told by name.
std::vector<GroupTotal> GroupEvents(const RunSummary& summary, const RankTraces& ranks,
                                    const NameTable& names, int64_t begin_ns, int64_t end_ns,
                                    GroupBy by);

}  // namespace tutti::viewer
