#include "workloads/common/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace tutti::workloads {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ErrorOf(std::string_view text) {
  try {
    ParseFault(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(ParseFault, ReadsKindAmountRanksAndSteps) {
  const Fault fault = ParseFault("extra_compute:1.5ms@0,2-3#10:30");
  EXPECT_EQ(fault.kind, FaultKind::kExtraCompute);
  EXPECT_EQ(fault.amount, 1'500'000);
  EXPECT_THAT(fault.ranks, ElementsAre(0, 2, 3));
  EXPECT_EQ(fault.begin_step, 10);
  EXPECT_EQ(fault.end_step, 30);
}

TEST(ParseFault, DefaultsToAllRanksAndAllSteps) {
  const Fault fault = ParseFault("slow_loader:20ms");
  EXPECT_THAT(fault.ranks, IsEmpty());
  EXPECT_EQ(fault.begin_step, 0);
  EXPECT_EQ(fault.end_step, std::numeric_limits<int64_t>::max());
}

TEST(ParseFault, OneRankSkipsOneCollectiveUnlessToldOtherwise) {
  const Fault fault = ParseFault("skip_collective");
  EXPECT_THAT(fault.ranks, ElementsAre(1));
  EXPECT_EQ(fault.begin_step, 10);
  EXPECT_EQ(fault.end_step, 11);
  EXPECT_EQ(ParseFault("skip_collective#5:").end_step, std::numeric_limits<int64_t>::max());
  EXPECT_THAT(ParseFault("skip_collective@0#3").ranks, ElementsAre(0));
}

TEST(ParseFault, ReadsEveryUnit) {
  EXPECT_EQ(ParseFault("slow_loader:7ns").amount, 7);
  EXPECT_EQ(ParseFault("slow_loader:7us").amount, 7'000);
  EXPECT_EQ(ParseFault("slow_loader:7ms").amount, 7'000'000);
  EXPECT_EQ(ParseFault("slow_loader:7s").amount, 7'000'000'000);
}

TEST(ParseFault, ReadsOneStepAndOpenRanges) {
  const Fault one = ParseFault("skip_collective@1#20");
  EXPECT_EQ(one.begin_step, 20);
  EXPECT_EQ(one.end_step, 21);
  EXPECT_EQ(ParseFault("late_allreduce#5:").begin_step, 5);
  EXPECT_EQ(ParseFault("late_allreduce#:5").end_step, 5);
}

TEST(ParseFault, ReadsCountsSizesAndShares) {
  EXPECT_EQ(ParseFault("tiny_operators:250").amount, 250);
  EXPECT_EQ(ParseFault("memory_leak:64KiB").amount, 65'536);
  EXPECT_EQ(ParseFault("memory_leak:1.5MiB").amount, 1'572'864);
  EXPECT_EQ(ParseFault("allocation_churn:2GiB").amount, 2'147'483'648);
  EXPECT_EQ(ParseFault("allocation_churn:12B").amount, 12);
  EXPECT_EQ(ParseFault("data_imbalance:50%").amount, 50);
}

TEST(ParseFault, TakesTheDefaultAmount) {
  EXPECT_EQ(ParseFault("tiny_buckets").amount, 1024);
  EXPECT_EQ(ParseFault("needless_barrier").amount, 1);
  EXPECT_EQ(ParseFault("skip_collective").amount, 60'000'000'000);
}

TEST(ParseFault, ActsOnOneRankWhereAllWouldBeNone) {
  EXPECT_THAT(ParseFault("data_imbalance:50%").ranks, ElementsAre(1));
  EXPECT_THAT(ParseFault("mismatched_size").ranks, ElementsAre(1));
  EXPECT_EQ(ParseFault("mismatched_size").begin_step, 10);
  EXPECT_EQ(ParseFault("data_imbalance:50%").begin_step, 0);
}

TEST(ParseFault, MergesRepeatedRanks) {
  EXPECT_THAT(ParseFault("slow_loader:1ms@3,1-3,2").ranks, ElementsAre(1, 2, 3));
}

TEST(ParseFault, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf("slow_disk:5ms"), HasSubstr("unknown kind of fault: 'slow_disk:5ms'"));
  EXPECT_THAT(ErrorOf("slow_loader"), HasSubstr("needs an amount"));
  EXPECT_THAT(ErrorOf("slow_loader:5"), HasSubstr("not a duration"));
  EXPECT_THAT(ErrorOf("slow_loader:5min"), HasSubstr("not a duration"));
  EXPECT_THAT(ErrorOf("slow_loader:1.2.3s"), HasSubstr("not a duration"));
  EXPECT_THAT(ErrorOf("slow_loader:99999999999s"), HasSubstr("too large"));
  EXPECT_THAT(ErrorOf("late_allreduce:5ms"), HasSubstr("takes no amount"));
  EXPECT_THAT(ErrorOf("late_allreduce@1"), HasSubstr("always on all ranks"));
  EXPECT_THAT(ErrorOf("single_bucket#5"), HasSubstr("always in all steps"));
  EXPECT_THAT(ErrorOf("tiny_operators:5ms"), HasSubstr("not a count"));
  EXPECT_THAT(ErrorOf("memory_leak:5"), HasSubstr("not a size"));
  EXPECT_THAT(ErrorOf("memory_leak:5MB"), HasSubstr("not a size"));
  EXPECT_THAT(ErrorOf("data_imbalance:0.5"), HasSubstr("not a share"));
  EXPECT_THAT(ErrorOf("slow_loader:ms"), HasSubstr("not a duration"));
  EXPECT_THAT(ErrorOf("slow_loader:5ms@"), HasSubstr("not a list of ranks"));
  EXPECT_THAT(ErrorOf("slow_loader:5ms@-1"), HasSubstr("not a list of ranks"));
  EXPECT_THAT(ErrorOf("slow_loader:5ms@3-1"), HasSubstr("not a range of ranks"));
  EXPECT_THAT(ErrorOf("slow_loader:5ms#x"), HasSubstr("not a step"));
  EXPECT_THAT(ErrorOf("slow_loader:5ms#9:9"), HasSubstr("empty range"));
}

TEST(FaultPlan, ActsOnlyOnItsRanksAndSteps) {
  const std::vector<Fault> faults = {ParseFault("extra_compute:5ms@1#10:20")};
  const FaultPlan affected(faults, 1);
  EXPECT_EQ(affected.Amount(FaultKind::kExtraCompute, 9), std::nullopt);
  EXPECT_EQ(affected.Amount(FaultKind::kExtraCompute, 10), 5'000'000);
  EXPECT_EQ(affected.Amount(FaultKind::kExtraCompute, 20), std::nullopt);
  EXPECT_EQ(affected.Amount(FaultKind::kSlowLoader, 10), std::nullopt);
  EXPECT_EQ(FaultPlan(faults, 0).Amount(FaultKind::kExtraCompute, 10), std::nullopt);
}

TEST(FaultPlan, AddsUpFaultsOfOneKind) {
  const FaultPlan plan({ParseFault("slow_loader:5ms"), ParseFault("slow_loader:2ms@0")}, 0);
  EXPECT_EQ(plan.Amount(FaultKind::kSlowLoader, 3), 7'000'000);
}

TEST(FaultTruth, NamesTheRanksAndStepsOfThisRun) {
  EXPECT_EQ(FaultTruth(ParseFault("slow_loader:30ms@1,7"), 4, 60),
            R"({"kind":"slow_loader","amount_ns":30000000,"ranks":[1],"steps":[0,60]})");
  EXPECT_EQ(FaultTruth(ParseFault("late_allreduce#50:90"), 2, 60),
            R"({"kind":"late_allreduce","ranks":[0,1],"steps":[50,60]})");
  EXPECT_EQ(FaultTruth(ParseFault("skip_collective@0#70"), 2, 60),
            R"({"kind":"skip_collective","amount_ns":60000000000,"ranks":[0],"steps":[60,60]})");
}

TEST(FaultTruth, NamesTheAmountByItsMeasure) {
  EXPECT_EQ(FaultTruth(ParseFault("tiny_operators:9"), 1, 3),
            R"({"kind":"tiny_operators","amount_count":9,"ranks":[0],"steps":[0,3]})");
  EXPECT_EQ(FaultTruth(ParseFault("memory_leak:1KiB"), 1, 3),
            R"({"kind":"memory_leak","amount_bytes":1024,"ranks":[0],"steps":[0,3]})");
  EXPECT_EQ(FaultTruth(ParseFault("data_imbalance:50%"), 2, 3),
            R"({"kind":"data_imbalance","amount_percent":50,"ranks":[1],"steps":[0,3]})");
}

TEST(FaultList, SaysHowEachKindIsWritten) {
  const FaultKind kinds[] = {FaultKind::kSlowLoader, FaultKind::kSingleBucket,
                             FaultKind::kTinyBuckets};
  EXPECT_EQ(
      FaultList(kinds),
      "slow_loader:TIME[@RANKS][#STEPS]          the loader's threads share a disk that takes "
      "A for a batch\n"
      "single_bucket                             all gradients are one bucket, which is full "
      "when backward ends\n"
      "tiny_buckets[:SIZE]                       gradient buckets hold A, so that each "
      "parameter has its own\n");
}

// Every kind parses under the name that is printed for it, so none is left out of the table.
TEST(SharedFaults, AreAllButThoseOfSomeWorkloads) {
  EXPECT_EQ(SharedFaults().size(), 21u);
  EXPECT_EQ(SharedFaults().back(), FaultKind::kMismatchedSize);
  for (int kind = 0; kind <= static_cast<int>(FaultKind::kFp32); ++kind) {
    const std::string name(FaultName(static_cast<FaultKind>(kind)));
    const std::string error = ErrorOf(name);
    EXPECT_THAT(error, testing::AnyOf(IsEmpty(), HasSubstr("needs an amount"))) << name;
  }
}

}  // namespace
}  // namespace tutti::workloads
