#include "collector/conventions/range_name.h"

#include <gtest/gtest.h>

namespace tutti::collector::conventions {
namespace {

TEST(RangeName, FindsStepsWithAndWithoutNumber) {
  struct Case {
    const char* name;
    const char* stem;
    std::optional<int64_t> number;
  };
  for (const Case& c :
       {Case{"ProfilerStep#12", "ProfilerStep", 12}, Case{"iteration7", "iteration", 7},
        Case{"Iteration 40", "Iteration", 40}, Case{"step_3", "step", 3},
        Case{"Step::4", "Step", 4}, Case{"step", "step", std::nullopt},
        Case{"[pl][profile]run_training_batch", "run_training_batch", std::nullopt}}) {
    const RangeName range = ParseRangeName(c.name);
    EXPECT_EQ(range.meaning, RangeMeaning::kStep) << c.name;
    EXPECT_EQ(range.stem, c.stem) << c.name;
    EXPECT_EQ(range.number, c.number) << c.name;
  }
}

TEST(RangeName, FindsPhasesOfFrameworks) {
  struct Case {
    const char* name;
    const char* phase;
  };
  for (const Case& c : {Case{"forward", "forward"}, Case{"Backward", "backward"},
                        Case{"DeepSpeedEngine.step", "optimizer"}, Case{"forward_step", "forward"},
                        Case{"Optimizer.step#AdamW.step", "optimizer"},
                        Case{"[pl][profile][Strategy]DDPStrategy.training_step", "forward"},
                        Case{"[pl][profile][LightningModule]Net.optimizer_step", "optimizer"}}) {
    const RangeName range = ParseRangeName(c.name);
    EXPECT_EQ(range.meaning, RangeMeaning::kPhase) << c.name;
    EXPECT_EQ(range.phase, c.phase) << c.name;
  }
}

TEST(RangeName, FindsWaitsForData) {
  EXPECT_EQ(ParseRangeName("enumerate(DataLoader)#_Iter.__next__").loader, "_Iter");
  EXPECT_EQ(ParseRangeName("[pl][profile][_Loop].train_dataloader_next").meaning,
            RangeMeaning::kDataWait);
  EXPECT_EQ(ParseRangeName("get_batch").meaning, RangeMeaning::kDataWait);
}

TEST(RangeName, LeavesWhatOnlyLooksAlike) {
  for (const char* name :
       {"", "stepper", "layer 3", "step_size", "aten::step", "iteration_1_ga_step_2",
        "99999999999999999999", "step 99999999999999999999", "12", "forwarder", "[pl][profile]"}) {
    EXPECT_EQ(ParseRangeName(name).meaning, RangeMeaning::kPlain) << name;
  }
}

TEST(EmittedOp, SplitsWhatEmitNvtxWrites) {
  const auto op = ParseEmittedOp(
      "aten::addmm, seq = 12, op_id = 7, sizes = [[8], [8, 4]], input_op_ids = [(1,0)]");
  ASSERT_TRUE(op);
  EXPECT_EQ(op->name, "aten::addmm");
  EXPECT_EQ(op->sequence_nr, 12);
  EXPECT_EQ(op->shapes, "[[8], [8, 4]]");
  EXPECT_EQ(ParseEmittedOp("detach_, op_id = 993405")->sequence_nr, std::nullopt);
  EXPECT_FALSE(ParseEmittedOp("forward"));
  EXPECT_FALSE(ParseEmittedOp(", seq = 1"));
  EXPECT_FALSE(ParseEmittedOp("a, b"));
}

TEST(EmittedOp, TellsBackwardFunctions) {
  EXPECT_TRUE(IsBackwardFunction("AddmmBackward0"));
  EXPECT_TRUE(IsBackwardFunction("autograd::engine::evaluate_function: AddmmBackward0"));
  EXPECT_FALSE(IsBackwardFunction("aten::_softmax_backward_data"));
  EXPECT_FALSE(IsBackwardFunction("0"));
}

}  // namespace
}  // namespace tutti::collector::conventions
