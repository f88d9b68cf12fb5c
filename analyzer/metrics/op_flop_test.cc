#include "analyzer/metrics/op_flop.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

TEST(OpFlop, AProductIsTwiceItsThreeSizes) {
  EXPECT_EQ(FlopOf("aten::mm", "[[8,16],[16,32]]"), 2 * 8 * 16 * 32);
  EXPECT_EQ(FlopOf("aten::addmm", "[[32],[8,16],[16,32],[],[]]"), 2 * 8 * 16 * 32);
  EXPECT_EQ(FlopOf("aten::bmm", "[[4,8,16],[4,16,32]]"), 4 * 2 * 8 * 16 * 32);
}

TEST(OpFlop, AttentionIsTwoProducts) {
  EXPECT_EQ(FlopOf("aten::_scaled_dot_product_flash_attention", "[[2,3,5,8],[2,3,7,8],[2,3,7,8]]"),
            4 * 2 * 3 * 5 * 7 * 8);
  EXPECT_EQ(FlopOf("aten::_scaled_dot_product_flash_attention_backward",
                   "[[2,3,5,8],[2,3,5,8],[2,3,7,8],[2,3,7,8]]"),
            10 * 2 * 3 * 5 * 7 * 8);
}

TEST(OpFlop, ShapesThatAreNoneOfSuchAnOperatorSayNothing) {
  for (const char* shapes : {"", "[]", "[[8,16]]", "[[8,16],[17,32]]", "[[8,16],[16,32]", "[[8,x]]",
                             "[[8,16],[16,32,2]]", "]", "[[99999999999999999999,2],[2,2]]"}) {
    EXPECT_EQ(FlopOf("aten::mm", shapes), std::nullopt) << shapes;
  }
  EXPECT_EQ(FlopOf("aten::add", "[[8,16],[16,32]]"), std::nullopt);
  EXPECT_FALSE(HasFlop("aten::add"));
}

}  // namespace
}  // namespace tutti::analyzer
