#include "analyzer/metrics/stack_frames.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

TEST(FrameToShow, IsTheFirstOutsideTorch) {
  EXPECT_EQ(FrameToShow("all_reduce (/x/torch/distributed/distributed_c10d.py:2696)\n"
                        "step (train.py:88)\nmain (train.py:7)"),
            "step (train.py:88)");
  EXPECT_EQ(FrameToShow("_call_impl (D:\\venv\\torch\\nn\\module.py:1790)\nforward (model.py:54)"),
            "forward (model.py:54)");
}

TEST(FrameToShow, IsTheFirstWhereAllAreTorchs) {
  EXPECT_EQ(FrameToShow("a (/torch/a.py:1)\nb (/torch/b.py:2)"), "a (/torch/a.py:1)");
  EXPECT_EQ(FrameToShow(""), "");
}

TEST(ShortFrame, KeepsTwoComponentsOfThePath) {
  EXPECT_EQ(ShortFrame("f (/a/b/c/model.py:5)"), "f (c/model.py:5)");
  EXPECT_EQ(ShortFrame("f (D:\\a\\b\\model.py:5)"), "f (b\\model.py:5)");
  EXPECT_EQ(ShortFrame("f (model.py:5)"), "f (model.py:5)");
  EXPECT_EQ(ShortFrame("f (/model.py:5)"), "f (/model.py:5)");
  EXPECT_EQ(ShortFrame("main"), "main");
}

}  // namespace
}  // namespace tutti::analyzer
