#include "exporter/tensorboard/event_file.h"

#include <gtest/gtest.h>

namespace tutti::exporter::tensorboard {
namespace {

// The check value of CRC-32C, of "123456789", is 0xe3069283. Masked: rotated right by 15 bits it is
// 0x2507c60d, plus 0xa282ead8 it is 0xc78ab0e5.
TEST(EventFile, FramesRecordsAsTensorFlowDoes) {
  const std::string record = Record("123456789");
  ASSERT_EQ(record.size(), 8u + 4 + 9 + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\x09\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(21), std::string("\xe5\xb0\x8a\xc7", 4));
}

}  // namespace
}  // namespace tutti::exporter::tensorboard
