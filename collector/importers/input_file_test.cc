#include "collector/importers/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "schema/testing/scratch.h"

namespace tutti::collector::importers {
namespace {

namespace fs = std::filesystem;
using schema::testing::Scratch;

void Write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

std::vector<std::string> Names(const InputList& list) {
  std::vector<std::string> names;
  for (const InputFile& file : list.files) names.emplace_back(FileName(file));
  return names;
}

TEST(ListInputs, SortsAsPeopleCount) {
  const Scratch scratch;
  for (const char* name : {"rank10.json", "rank9.json", "a.json", "rank09.json", "rank1.json"}) {
    Write(scratch.Path(name), "{}");
  }
  EXPECT_EQ(Names(*ListInputs({scratch.Path(".")})),
            (std::vector<std::string>{"a.json", "rank1.json", "rank09.json", "rank9.json",
                                      "rank10.json"}));
}

TEST(ListInputs, LooksIntoDirectoriesButNotAtHiddenFilesOrLinkedDirectories) {
  const Scratch scratch;
  Write(scratch.Path("x/y/deep.json"), "{}");
  Write(scratch.Path("x/.hidden.json"), "{}");
  Write(scratch.Path("x/.git/config"), "{}");
  Write(scratch.Path("elsewhere/linked.json"), "{}");
  fs::create_symlink("../elsewhere/linked.json", scratch.Path("x/link.json"));
  fs::create_symlink("nowhere.json", scratch.Path("x/dangling.json"));
  fs::create_directory_symlink(".", scratch.Path("x/loop"));
  EXPECT_EQ(Names(*ListInputs({scratch.Path("x")})),
            (std::vector<std::string>{"link.json", "deep.json"}));
}

// A rank's file may be missing because of it.
TEST(ListInputs, SaysWhichLinksLeadNowhere) {
  const Scratch scratch;
  Write(scratch.Path("x/a.json"), "{}");
  fs::create_symlink("nowhere.json", scratch.Path("x/dangling.json"));
  fs::create_symlink("b.json", scratch.Path("x/c.json"));
  fs::create_symlink("c.json", scratch.Path("x/b.json"));
  const auto list = *ListInputs({scratch.Path("x")});
  ASSERT_EQ(list.unreadable.size(), 3U);
  for (const std::string& line : list.unreadable) {
    EXPECT_NE(line.find(": a symbolic link that leads to no file"), std::string::npos) << line;
  }
  EXPECT_EQ(list.named_unreadable, 0U);
  const auto named = ListInputs({scratch.Path("x/dangling.json")});
  EXPECT_NE(named.status().message().find("dangling.json: a symbolic link"), std::string::npos);
}

TEST(ListInputs, SaysWhatLiesTooDeep) {
  const Scratch scratch;
  std::string deep = scratch.Path("x");
  for (int i = 0; i < 18; ++i) deep += "/d";
  Write(scratch.Path("x/a.json"), "{}");
  Write(deep + "/b.json", "{}");
  const auto list = *ListInputs({scratch.Path("x")});
  EXPECT_EQ(Names(list), std::vector<std::string>{"a.json"});
  ASSERT_EQ(list.unreadable.size(), 1U);
  EXPECT_NE(list.unreadable[0].find("folders deep, left out"), std::string::npos);
}

TEST(ListInputs, CountsAFileOnceHoweverOftenItIsNamed) {
  const Scratch scratch;
  Write(scratch.Path("a.json"), "{}");
  const auto list =
      *ListInputs({scratch.Path("a.json"), scratch.Path("."), scratch.Path("a.json")});
  EXPECT_EQ(list.files.size(), 1u);
}

TEST(ListInputs, CallsAFileByItsNameRatherThanALinks) {
  const Scratch scratch;
  Write(scratch.Path("b.json"), "{}");
  fs::create_symlink("b.json", scratch.Path("a.json"));
  EXPECT_EQ(Names(*ListInputs({scratch.Path(".")})), std::vector<std::string>{"b.json"});
}

TEST(ListInputs, ReadsTheHeadOfWhatIsInside) {
  const Scratch scratch;
  Write(scratch.Path("a.json"), std::string(kHeadBytes, ' ') + "{}");
  const auto list = *ListInputs({scratch.Path("a.json")});
  ASSERT_EQ(list.files.size(), 1u);
  EXPECT_EQ(list.files[0].head, std::string(kHeadBytes, ' '));
  EXPECT_EQ(list.files[0].plain_head, list.files[0].head);
  EXPECT_EQ(list.files[0].bytes, static_cast<int64_t>(kHeadBytes) + 2);
}

TEST(ListInputs, RefusesWhatIsNotThereOrNoFile) {
  const Scratch scratch;
  EXPECT_EQ(ListInputs({scratch.Path("none")}).status().code(), StatusCode::kNotFound);
  ASSERT_EQ(mkfifo(scratch.Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ListInputs({scratch.Path("pipe")}).status().code(), StatusCode::kBadData);
}

}  // namespace
}  // namespace tutti::collector::importers
