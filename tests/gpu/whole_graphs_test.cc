// TUTTI_CUDA_GRAPHS=whole: one row a launch of a CUDA graph instead of one a kernel of it.
#include <gtest/gtest.h>

#include <string>

#include "tests/e2e/record_fixture.h"

namespace tutti::e2e {
namespace {

class WholeGraphsTest : public RecordTest {
 protected:
  // "kernels with a node, rows named as a graph" of tests/gpu/graphs.cc: 40 launches of 5 kernels.
  std::string Rows(const std::string& graphs) {
    const Finished finished =
        Record({}, {TUTTI_GPU_TRUTH, "graphs"},
               {"TUTTI_CUPTI_LIBRARY=" TUTTI_FAKE_CUPTI, "TUTTI_CUDA_GRAPHS=" + graphs});
    EXPECT_EQ(finished.exit_status, 0) << finished.err;
    auto rank = Open("rank-00000.sqlite");
    EXPECT_EQ(Number(rank, "SELECT count(*) FROM kernel WHERE begin_ns IS NULL"), 0);
    return Text(
        rank, "SELECT count(graph_node_id) || ', ' || sum(name LIKE 'CUDA graph%') FROM v_kernel");
  }
};

TEST_F(WholeGraphsTest, AreOneRowALaunch) { EXPECT_EQ(Rows("whole"), "0, 40"); }
TEST_F(WholeGraphsTest, AreOneRowANodeByDefault) { EXPECT_EQ(Rows(""), "200, 0"); }

}  // namespace
}  // namespace tutti::e2e
