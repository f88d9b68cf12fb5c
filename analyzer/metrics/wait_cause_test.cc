#include "analyzer/metrics/wait_cause.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti::analyzer {
namespace {

std::string Text(const std::vector<CausedWait>& causes) {
  std::string text;
  for (const CausedWait& cause : causes) {
    text += std::to_string(cause.rank) + "<-" + std::to_string(cause.cause) + ":" +
            std::to_string(cause.wait_ns) + " ";
  }
  return text;
}

// ns      0        20                  100  110
// rank 0  [compute=====================)[1 )
// rank 1  [compute=)[1 waits ..........)[1 )[2=)
// rank 2  [compute=)[2 waits ...............)
TEST(WaitCauses, AWaitIsPassedOn) {
  WaitCauses causes;
  EXPECT_EQ(Text(causes.Add(0, std::vector<Waiting>{{0, 0}, {1, 80}})), "1<-0:80 ");
  // Of 90 that rank 2 waits for rank 1, 80 are rank 0's and 10 the transfer of 1.
  EXPECT_EQ(Text(causes.Add(1, std::vector<Waiting>{{1, 0}, {2, 90}})), "2<-0:80 2<-1:10 ");
}

TEST(WaitCauses, WhoWasDelayedAlikeDoesNotWaitForIt) {
  WaitCauses causes;
  causes.Add(0, std::vector<Waiting>{{0, 0}, {1, 80}, {2, 60}});
  EXPECT_EQ(Text(causes.Add(1, std::vector<Waiting>{{1, 0}, {2, 5}})), "2<-1:5 ");
}

TEST(WaitCauses, ADelayThatALaterWaitSwallowsIsGone) {
  WaitCauses causes;
  causes.Add(0, std::vector<Waiting>{{0, 0}, {1, 30}});
  causes.Add(3, std::vector<Waiting>{{1, 200}, {3, 0}});  // rank 1 would have waited for 3 anyway
  EXPECT_EQ(Text(causes.Add(1, std::vector<Waiting>{{1, 0}, {2, 100}})), "2<-3:100 ");
}

TEST(WaitCauses, NobodyWaitsForItself) {
  WaitCauses causes;
  causes.Add(0, std::vector<Waiting>{{0, 0}, {1, 80}});
  EXPECT_EQ(Text(causes.Add(1, std::vector<Waiting>{{1, 0}, {0, 50}})), "0<-1:50 ");
}

}  // namespace
}  // namespace tutti::analyzer
