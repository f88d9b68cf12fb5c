#include "viewer/platform/picture.h"

#include <gtest/gtest.h>

#include "schema/testing/scratch.h"

namespace tutti::viewer {
namespace {

TEST(KeepPicture, TakesTheNextNameThatIsFree) {
  const schema::testing::Scratch scratch;
  const std::string folder = scratch.Path("pictures");
  std::filesystem::create_directory(folder);
  const Image image{1, 2, {1, 2, 3, 255, 4, 5, 6, 255}};
  for (const char* name : {"a.png", "a-2.png", "a-3.png"}) {
    const Result<std::string> path = KeepPicture(image, folder, "../a/");
    ASSERT_TRUE(path.ok()) << path.status().message();
    EXPECT_EQ(*path, folder + "/" + name);
    const Result<Image> read = ReadPng(*path);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->rgba, image.rgba);
  }
  EXPECT_EQ(*KeepPicture(image, folder, "/"), folder + "/tutti.png");
  EXPECT_FALSE(KeepPicture(image, scratch.Path("nowhere"), "a").ok());
}

}  // namespace
}  // namespace tutti::viewer
