#include "workloads/common/text.h"

#include <gmock/gmock.h>

#include <fstream>

namespace tutti::workloads {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Tokenize, NumbersCharactersInOrderOfTheirBytes) {
  const Text text = Tokenize("banana\xff", "a fruit");
  EXPECT_EQ(text.vocabulary, 4);
  EXPECT_THAT(text.tokens, ElementsAre(1, 0, 2, 0, 2, 0, 3));
  EXPECT_EQ(text.description, "7 characters, 4 distinct, of a fruit");
}

TEST(LoadText, ReadsAFile) {
  const std::string path = ::testing::TempDir() + "tutti_text_test.txt";
  std::ofstream(path) << "abab";
  EXPECT_THAT(LoadText(path).tokens, ElementsAre(0, 1, 0, 1));
  std::filesystem::remove(path);
}

TEST(LoadText, SaysWhichFileHasNoText) {
  EXPECT_THAT([] { LoadText("/nonexistent"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("/nonexistent: no text in it")));
}

TEST(LoadText, ReadsTheLicencesOfThisMachine) {
  if (!std::filesystem::exists("/usr/share/common-licenses")) GTEST_SKIP() << "not a Debian";
  const Text text = LoadText({});
  EXPECT_GT(text.tokens.size(), 100'000U);
  EXPECT_LE(text.vocabulary, 256);
  EXPECT_THAT(text.description, HasSubstr("licences from /usr/share/common-licenses"));
}

}  // namespace
}  // namespace tutti::workloads
