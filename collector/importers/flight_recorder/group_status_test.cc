#include "collector/importers/flight_recorder/group_status.h"

#include <gtest/gtest.h>

namespace tutti::collector::importers::flight_recorder {
namespace {

std::vector<Group> GroupsCalled(std::initializer_list<const char*> names) {
  std::vector<Group> groups;
  for (const char* name : names) groups.emplace_back().name = name;
  return groups;
}

StatusOfId Enqueued(const char* id, int64_t last) {
  StatusOfId status;
  status.id = id;
  status.last_enqueued = last;
  return status;
}

// A rank that hangs has no entries, so no id is known by name.
TEST(AssignStatus, PairsInOrderWhereThereAreAsManyIdsAsNames) {
  std::vector<Group> groups = GroupsCalled({"0", "101", "37"});
  const StatusOfId states[] = {Enqueued("0", 1), Enqueued("12", 3), Enqueued("5", 2)};
  EXPECT_EQ(AssignStatus(states, {}, groups), 0);
  EXPECT_EQ(groups[0].last_enqueued, 1);
  EXPECT_EQ(groups[1].last_enqueued, 3);  // 101, the third by number
  EXPECT_EQ(groups[2].last_enqueued, 2);  // 37
}

TEST(AssignStatus, PairsBetweenWhatEntriesTell) {
  std::vector<Group> groups = GroupsCalled({"0", "10", "20", "30", "40"});
  const StatusOfId states[] = {Enqueued("0", 1), Enqueued("3", 2), Enqueued("5", 3),
                               Enqueued("6", 4)};
  // 5 is "20": 3 must be "10"; 6 may be "30" or "40".
  EXPECT_EQ(AssignStatus(states, {{"0", 0}, {"5", 2}}, groups), 1);
  EXPECT_EQ(groups[1].last_enqueued, 2);
  EXPECT_EQ(groups[2].last_enqueued, 3);
  EXPECT_FALSE(groups[3].last_enqueued.has_value());
  EXPECT_FALSE(groups[4].last_enqueued.has_value());
}

TEST(AssignStatus, GuessesNothingFromNamesThatAreNoNumbers) {
  std::vector<Group> groups = GroupsCalled({"0", "a1b2"});
  const StatusOfId states[] = {Enqueued("0", 1), Enqueued("1", 2)};
  EXPECT_EQ(AssignStatus(states, {{"0", 0}}, groups), 1);
  EXPECT_EQ(groups[0].last_enqueued, 1);
  EXPECT_FALSE(groups[1].last_enqueued.has_value());
}

}  // namespace
}  // namespace tutti::collector::importers::flight_recorder
