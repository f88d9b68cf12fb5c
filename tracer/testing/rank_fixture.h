// A test fixture whose process becomes a rank of a FakeCollector.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "tracer/core/entry.h"
#include "tracer/core/session.h"
#include "tracer/testing/fake_collector.h"

namespace tutti::tracer::testing {

class RankTest : public ::testing::Test {
 protected:
  ~RankTest() override {
    ResetForTesting();
    unsetenv("TUTTI_SESSION");
  }

  // A candidate of a new collector.
  void Listen(FakeCollector::Options options = {}) {
    ResetForTesting();
    collector_ = std::make_unique<FakeCollector>(std::move(options));
    setenv("TUTTI_SESSION", collector_->session().c_str(), 1);
    Configure();
  }

  // A rank of a new collector, with a segment of |shape|.
  void BecomeRank(const wire::SegmentShape& shape = kTestShape) {
    FakeCollector::Options options;
    options.shape = shape;
    Listen(std::move(options));
    ASSERT_TRUE(Promote("test"));
  }

  SegmentReader& reader() { return collector_->segment(); }

  std::unique_ptr<FakeCollector> collector_;
};

// A mark that says |sequence|.
inline wire::MarkRecord Mark(uint64_t sequence) {
  wire::MarkRecord mark{};
  mark.header = HeaderOf(wire::RecordKind::kMark, 0);
  mark.payload = sequence;
  return mark;
}

}  // namespace tutti::tracer::testing
