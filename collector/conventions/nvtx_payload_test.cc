#include "collector/conventions/nvtx_payload.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

namespace tutti::collector::conventions {
namespace {

std::vector<std::byte> Bytes(std::initializer_list<uint64_t> words) {
  std::vector<std::byte> bytes(words.size() * 8);
  size_t at = 0;
  for (const uint64_t word : words) {
    std::memcpy(bytes.data() + at, &word, 8);
    at += 8;
  }
  return bytes;
}

PayloadSchema NcclReduction() {
  PayloadSchema schema;
  schema.fields = {{"NCCL communicator ID", "uint64", 0, 0},
                   {"Message size [bytes]", "uint64", 8, 0},
                   {"Reduction operation", "schema:7", 16, 0}};
  return schema;
}

TEST(PayloadDecoder, ReadsFieldsAndNamesEnumValues) {
  PayloadDecoder decoder({});
  decoder.Define(1, 5, NcclReduction());
  PayloadSchema reduction;
  reduction.is_enum = true;
  reduction.enum_bytes = 8;
  reduction.enumerators = {{0, "Sum"}, {3, "Max"}};
  decoder.Define(1, 7, reduction);
  EXPECT_EQ(ToText(decoder.Decode(1, 5, Bytes({0xabcdef0123456789, 4096, 3}))),
            R"({"NCCL communicator ID":12379813738877118345,"Message size [bytes]":4096,)"
            R"("Reduction operation":"Max"})");
}

TEST(PayloadDecoder, LeavesOutWhatIsNotThere) {
  PayloadDecoder decoder({});
  decoder.Define(1, 5, NcclReduction());
  EXPECT_EQ(ToText(decoder.Decode(1, 5, Bytes({9}))), R"({"NCCL communicator ID":9})");
  EXPECT_EQ(ToText(decoder.Decode(1, 5, {})), "{}");
}

TEST(PayloadDecoder, ShowsBytesOfUnknownSchemas) {
  const PayloadDecoder decoder({});
  EXPECT_EQ(ToText(decoder.Decode(1, 5, Bytes({1}))),
            R"({"schema_id":5,"bytes":"0100000000000000"})");
}

TEST(PayloadDecoder, SchemasThatHoldThemselvesEnd) {
  PayloadDecoder decoder({});
  PayloadSchema schema;
  schema.fields = {{"again", "schema:5", 0, 0}};
  decoder.Define(1, 5, schema);
  EXPECT_LT(ToText(decoder.Decode(1, 5, Bytes({1}))).size(), 1000u);
}

}  // namespace
}  // namespace tutti::collector::conventions
