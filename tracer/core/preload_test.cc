#include "tracer/core/preload.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace tutti::tracer {
namespace {

bool IsX(std::string_view entry) { return entry == "x"; }

std::string WithoutX(const std::string& value) {
  std::string out(value.size() + 1, '#');
  out.resize(WithoutEntries(value, &IsX, out.data()));
  return out;
}

TEST(WithoutEntries, RemovesOursAndKeepsTheUsers) {
  EXPECT_EQ(WithoutX("x"), "");
  EXPECT_EQ(WithoutX("x:a"), "a");
  EXPECT_EQ(WithoutX("a:x"), "a");
  EXPECT_EQ(WithoutX("a:x:b"), "a:b");
  EXPECT_EQ(WithoutX("a x b:c"), "a b:c");
  EXPECT_EQ(WithoutX("x:x"), "");
  EXPECT_EQ(WithoutX("a:b"), "a:b");
  EXPECT_EQ(WithoutX("xx:ax"), "xx:ax");
  EXPECT_EQ(WithoutX(""), "");
}

// The test program itself stands for the library: dladdr names it.
std::string OwnExecutable() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return {path, static_cast<size_t>(length)};
}

TEST(RemoveOwnPreload, LeavesTheOthersInPlace) {
  setenv("LD_PRELOAD", (OwnExecutable() + ":/lib/libuser.so").c_str(), 1);
  const char* before = getenv("LD_PRELOAD");
  EXPECT_TRUE(RemoveOwnPreload());
  EXPECT_STREQ(getenv("LD_PRELOAD"), "/lib/libuser.so");
  EXPECT_EQ(getenv("LD_PRELOAD"), before);
  unsetenv("LD_PRELOAD");
}

// A program may put a literal into its environment. A store would be a crash.
TEST(RemoveOwnPreload, SurvivesAReadOnlyString) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* text = static_cast<char*>(
      mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const std::string variable = "LD_PRELOAD=/lib/libuser.so:" + OwnExecutable();
  ASSERT_LT(variable.size(), page);
  std::memcpy(text, variable.c_str(), variable.size() + 1);
  mprotect(text, page, PROT_READ);
  putenv(text);
  RemoveOwnPreload();  // whether it can write depends on the kernel's policy
  EXPECT_TRUE(std::string(getenv("LD_PRELOAD")).starts_with("/lib/libuser.so"));
  unsetenv("LD_PRELOAD");
  munmap(text, page);
}

TEST(RemoveOwnPreload, HasNothingToDoWithoutTheVariable) {
  unsetenv("LD_PRELOAD");
  EXPECT_TRUE(RemoveOwnPreload());
  EXPECT_EQ(getenv("LD_PRELOAD"), nullptr);
}

}  // namespace
}  // namespace tutti::tracer
