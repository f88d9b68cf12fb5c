#include "common/openmetrics.h"

#include <gtest/gtest.h>

namespace tutti::openmetrics {
namespace {

TEST(OpenMetrics, WritesAFamilyWithLabels) {
  Family family("tutti_x_seconds", "What x takes.");
  EXPECT_EQ(family.Text(), "");
  family.Add("rank=\"0\"", 0.0123456);
  family.AddCount("", 12345678);
  EXPECT_EQ(family.Text(),
            "# TYPE tutti_x_seconds gauge\n# HELP tutti_x_seconds What x takes.\n"
            "tutti_x_seconds{rank=\"0\"} 0.01235\ntutti_x_seconds 12345678\n");
}

TEST(OpenMetrics, LetsNoLabelEndEarly) {
  EXPECT_EQ(LabelText("a\"} 1\\"), "a\\\"} 1\\\\");
  EXPECT_EQ(LabelText("a\nb").find('\n'), std::string::npos);
}

}  // namespace
}  // namespace tutti::openmetrics
