#include "tracer/sources/torch/groups.h"

#include <gtest/gtest.h>

#include <memory>

namespace tutti::tracer::torch {
namespace {

constexpr wire::Backend kGloo = wire::Backend::kGloo;

TEST(GroupTable, NumbersGroupsInTheOrderOfTheirMaking) {
  auto table = std::make_unique<GroupTable>();
  int first = 0;
  int second = 0;
  EXPECT_EQ(table->Find(&first), nullptr);
  EXPECT_EQ(table->Add(&first, kGloo, 0, 2)->communicator, 1u);
  EXPECT_EQ(table->Add(&second, kGloo, 1, 4)->communicator, 2u);
  EXPECT_EQ(table->Find(&first)->communicator, 1u);
  EXPECT_EQ(table->Find(&second)->size, 4);
}

TEST(GroupTable, TakesAnAddressUsedAgainForANewGroup) {
  auto table = std::make_unique<GroupTable>();
  int object = 0;
  table->Add(&object, kGloo, 0, 2)->collectives = 7;
  Group* later = table->Add(&object, kGloo, 0, 2);
  EXPECT_EQ(table->Find(&object), later);
  EXPECT_EQ(later->communicator, 2u);
  EXPECT_EQ(later->collectives, 0);
}

TEST(GroupTable, AddsAGroupThatItDidNotSeeMade) {
  auto table = std::make_unique<GroupTable>();
  int object = 0;
  Group* group = table->FindOrAdd(&object, kGloo);
  EXPECT_EQ(group->rank, -1);
  EXPECT_EQ(table->FindOrAdd(&object, kGloo), group);
}

TEST(GroupTable, RefusesMoreThanItHolds) {
  auto table = std::make_unique<GroupTable>();
  std::vector<char> objects(kMaxGroups + 2);
  for (uint32_t i = 0; i < kMaxGroups; ++i) {
    ASSERT_NE(table->Add(&objects[i], kGloo, 0, 1), nullptr);
  }
  EXPECT_EQ(table->Add(&objects[kMaxGroups], kGloo, 0, 1), nullptr);
  EXPECT_EQ(table->FindOrAdd(&objects[kMaxGroups + 1], kGloo), nullptr);
  EXPECT_EQ(table->Find(&objects[5])->communicator, 6u);
}

}  // namespace
}  // namespace tutti::tracer::torch
