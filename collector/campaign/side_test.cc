#include "collector/campaign/side.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "schema/testing/scratch.h"

namespace tutti::collector::campaign {
namespace {

namespace fs = std::filesystem;
using schema::testing::Scratch;
using Words = std::vector<std::string>;

void WriteScript(const std::string& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
  fs::permissions(path, fs::perms::owner_all);
}

TEST(Side, AProgramTakesTheCommandAsArguments) {
  const Scratch scratch;
  WriteScript(scratch.Path("train"), "exit 0");
  const auto side = ResolveSide(scratch.Path("train"));
  ASSERT_TRUE(side.ok()) << side.status().message();
  EXPECT_EQ(side->kind, SideKind::kProgram);
  EXPECT_EQ(CommandOf(*side, {"--steps", "60"})->argv, Words({side->path, "--steps", "60"}));
  EXPECT_EQ(CommandOf(*side, {"mpirun", "-np", "2", "{}"})->argv,
            Words({"mpirun", "-np", "2", side->path}));
  const std::string before = side->identity;
  WriteScript(scratch.Path("train"), "exit 1");
  EXPECT_NE(ResolveSide(scratch.Path("train"))->identity, before);
}

TEST(Side, ACommandIsRunInAFolder) {
  const Scratch scratch;
  const auto side = ResolveSide(scratch.Path(""));
  ASSERT_TRUE(side.ok());
  EXPECT_EQ(side->kind, SideKind::kFolder);
  const auto invocation = CommandOf(*side, {"./train", "--data={}/x"});
  EXPECT_EQ(invocation->directory, side->path);
  EXPECT_EQ(invocation->argv, Words({"./train", "--data=" + side->path + "/x"}));
  EXPECT_EQ(CommandOf(*side, {}).status().code(), StatusCode::kUsage);
}

TEST(Side, AShellCommandKeepsTheWordsAfterIt) {
  const auto side = ResolveSide("sh:LR=0.1 train --fast");
  EXPECT_EQ(CommandOf(*side, {"--note", "a b"})->argv,
            Words({"/bin/sh", "-c", "exec env LR=0.1 train --fast \"$@\"", "sh", "--note", "a b"}));
}

TEST(Side, WhatIsNothingIsRefused) {
  const Scratch scratch;
  std::ofstream(scratch.Path("data.txt")) << "no program";
  for (const std::string& text : {scratch.Path("data.txt"), scratch.Path("none"),
                                  std::string("git:no-such-revision"), std::string("sh:")}) {
    EXPECT_EQ(ResolveSide(text).status().code(), StatusCode::kUsage) << text;
  }
}

// A repository with two commits; the current folder is in it.
class Revisions : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string script =
        "cd '" + scratch_.Path("") +
        "' && mkdir repo && cd repo && git init -q . && git config user.email a@b.c && "
        "git config user.name n && echo one > file && git add file && git commit -qm one && "
        "git tag first && echo two > file && git commit -qam two";
    ASSERT_EQ(::system(script.c_str()), 0);  // NOLINT(concurrency-mt-unsafe)
    fs::current_path(scratch_.Path("repo"));
  }
  void TearDown() override { fs::current_path("/"); }

  std::string Contents(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    file >> text;
    return text;
  }

  Scratch scratch_;
};

TEST_F(Revisions, AreCheckedOutBesideTheRepository) {
  auto side = ResolveSide("git:first");
  ASSERT_TRUE(side.ok()) << side.status().message();
  EXPECT_EQ(side->kind, SideKind::kRevision);
  EXPECT_EQ(side->commit.size(), 40U);
  ASSERT_TRUE(CheckOut(*side, scratch_.Path("checkout"), scratch_.Path("log")).ok());
  EXPECT_EQ(Contents(side->path + "/file"), "one");
  EXPECT_EQ(Contents("file"), "two");
  // The same commit is not checked out again: what was built there stays.
  std::ofstream(side->path + "/built") << "yes";
  ASSERT_TRUE(CheckOut(*side, scratch_.Path("checkout"), scratch_.Path("log")).ok());
  EXPECT_EQ(Contents(side->path + "/built"), "yes");
  auto head = ResolveSide("HEAD");
  ASSERT_TRUE(CheckOut(*head, scratch_.Path("checkout"), scratch_.Path("log")).ok());
  EXPECT_EQ(Contents(head->path + "/file"), "two");
}

TEST_F(Revisions, AFolderIsKnownByItsCommitAndWhatDiffersFromIt) {
  const auto clean = ResolveSide(".");
  EXPECT_EQ(clean->identity, clean->commit);
  std::ofstream("file") << "three\n";
  const auto changed = ResolveSide(".");
  EXPECT_EQ(changed->commit, clean->commit);
  EXPECT_TRUE(changed->identity.starts_with(clean->commit + "+")) << changed->identity;
}

}  // namespace
}  // namespace tutti::collector::campaign
