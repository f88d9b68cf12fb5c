#include "collector/importers/flight_recorder/names.h"

#include <gtest/gtest.h>

namespace tutti::collector::importers::flight_recorder {
namespace {

TEST(ParseOpName, GivesOneWordForEachOperation) {
  EXPECT_EQ(ParseOpName("nccl:all_reduce").op, "all_reduce");
  EXPECT_EQ(ParseOpName("nccl:all_reduce").backend, "nccl");
  EXPECT_EQ(ParseOpName("nccl:_all_gather_base").op, "all_gather");
  EXPECT_EQ(ParseOpName("nccl:ALLGATHER_coalesced").op, "all_gather");
  EXPECT_EQ(ParseOpName("nccl:_reduce_scatter_base").op, "reduce_scatter");
  EXPECT_EQ(ParseOpName("nccl:reduce_scatter_tensor_coalesced").op, "reduce_scatter");
  EXPECT_EQ(ParseOpName("nccl:allreduce_coalesced").op, "all_reduce");
  EXPECT_EQ(ParseOpName("nccl:all_reduce_barrier").op, "barrier");
  EXPECT_EQ(ParseOpName("nccl:_broadcast_oop").op, "broadcast");
  EXPECT_EQ(ParseOpName("nccl:_reduce_oop").op, "reduce");
  EXPECT_EQ(ParseOpName("gloo:monitored_barrier").op, "barrier");
  EXPECT_EQ(ParseOpName("xccl:brandNewOp").op, "brandNewOp");
  EXPECT_EQ(ParseOpName("all_to_all").backend, "");
}

TEST(ParseOpName, FindsTheOtherRank) {
  const OpName send = ParseOpName("nccl:send 0->3");
  EXPECT_EQ(send.op, "send");
  EXPECT_EQ(send.self, 0);
  EXPECT_EQ(send.peer, 3);
  const OpName receive = ParseOpName("nccl:recv 2<-11");
  EXPECT_EQ(receive.op, "recv");
  EXPECT_EQ(receive.self, 2);
  EXPECT_EQ(receive.peer, 11);
  EXPECT_EQ(ParseOpName("nccl:send x->y").peer, std::nullopt);
  EXPECT_TRUE(ParseOpName("nccl:coalesced").is_batch);
}

TEST(ParseDtype, GivesNameAndSize) {
  EXPECT_EQ(ParseDtype("BFloat16").name, "bfloat16");
  EXPECT_EQ(ParseDtype("BFloat16").bytes, 2);
  EXPECT_EQ(ParseDtype("Long").name, "int64");
  EXPECT_EQ(ParseDtype("Brand_new").name, "Brand_new");
  EXPECT_EQ(ParseDtype("Brand_new").bytes, 0);
}

TEST(RankInFileName, TakesTheNumberBehindRankElseTheLast) {
  EXPECT_EQ(RankInFileName("/tmp/nccl_trace_rank_12"), 12);
  EXPECT_EQ(RankInFileName("nccl_trace_rank_3.json"), 3);
  EXPECT_EQ(RankInFileName("_dump_7"), 7);
  EXPECT_EQ(RankInFileName("trace_rank2_0.pickle"), 2);
  EXPECT_EQ(RankInFileName("rank-5_1700000000.pkl"), 5);
  EXPECT_EQ(RankInFileName("dump.9"), 9);
  EXPECT_EQ(RankInFileName("host4/dump"), std::nullopt);
  EXPECT_EQ(RankInFileName(""), std::nullopt);
  EXPECT_EQ(RankInFileName("rank_99999999999999999999"), std::nullopt);
}

}  // namespace
}  // namespace tutti::collector::importers::flight_recorder
