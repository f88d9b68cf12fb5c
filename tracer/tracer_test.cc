// The shared library as a whole: what it exports and needs, and that it leaves nothing
// behind in processes that are not ranks.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tracer/testing/child.h"
#include "tracer/testing/fake_collector.h"

namespace tutti::tracer {
namespace {

using testing::ChildResult;
using testing::FakeCollector;

const std::string kLibrary = TUTTI_TRACER_LIBRARY;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

ChildResult RunTraced(const std::vector<std::string>& argv, const FakeCollector& collector,
                      const testing::Environment& more = {}) {
  testing::Environment environment = testing::TracedEnvironment(kLibrary, collector.session());
  environment.insert(environment.end(), more.begin(), more.end());
  return testing::RunChild(argv, environment);
}

// libc (with pthread and dl in it) and the loader.
TEST(TracerLibrary, NeedsTheCLibraryOnly) {
  const ChildResult needed = testing::RunChild({"readelf", "-d", kLibrary}, {});
  ASSERT_EQ(needed.exit_code, 0) << needed.output;
  for (const std::string& line : Lines(needed.output)) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    EXPECT_TRUE(std::regex_search(
        line,
        std::regex(R"(\[(libc\.so\.6|ld-linux-x86-64\.so\.2|libdl\.so\.2|libpthread\.so\.0)\])")))
        << line;
  }
  const ChildResult undefined = testing::RunChild({"nm", "-D", "--undefined-only", kLibrary}, {});
  ASSERT_EQ(undefined.exit_code, 0) << undefined.output;
  for (const std::string& line : Lines(undefined.output)) {
    const bool weak = line.find(" w ") != std::string::npos;
    EXPECT_TRUE(weak || line.find("@GLIBC_") != std::string::npos) << line;
  }
}

// What runs at the end of a process, may allocate in thread-local storage, or is a lock. The cupti
// source alone has threads and an exit handler, in ranks with a GPU (pthread_create, __cxa_atexit).
TEST(TracerLibrary, NeedsNothingThatActsBehindItsBack) {
  const ChildResult undefined = testing::RunChild({"nm", "-D", "--undefined-only", kLibrary}, {});
  ASSERT_EQ(undefined.exit_code, 0) << undefined.output;
  const std::regex forbidden(
      " U (__cxa_(?!atexit@)|__tls_get_addr|pthread_(atfork|mutex|rwlock|cond)|sqlite3|cu[A-Z]|"
      "_Z|signal|sigaction|dlclose)");
  for (const std::string& line : Lines(undefined.output)) {
    EXPECT_FALSE(std::regex_search(line, forbidden)) << line;
  }
}

TEST(TracerLibrary, ExportsTheDocumentedAbiOnly) {
  const ChildResult defined =
      testing::RunChild({"nm", "-D", "--defined-only", "--format=just-symbols", kLibrary}, {});
  ASSERT_EQ(defined.exit_code, 0) << defined.output;
  const std::vector<std::string> exported = Lines(defined.output);
  for (const char* wanted :
       {"InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
        "ncclProfiler_v2", "ncclProfiler_v3", "ncclProfiler_v4", "ncclProfiler_v5"}) {
    EXPECT_EQ(std::ranges::count(exported, wanted), 1) << wanted;
  }
  for (const std::string& symbol : exported) {
    EXPECT_TRUE(symbol.starts_with("InitializeInjection") || symbol.starts_with("ncclProfiler_v") ||
                symbol.starts_with("_ZN3c10") || symbol.starts_with("_ZN4c10d16ProcessGroupGloo"))
        << symbol;
  }
}

TEST(TracerLibrary, StaysLoaded) {
  const ChildResult flags = testing::RunChild({"readelf", "-d", kLibrary}, {});
  EXPECT_TRUE(std::regex_search(flags.output, std::regex("NODELETE"))) << flags.output;
}

TEST(TracerLibrary, AnswersTheCudaDriver) {
  void* library = dlopen(kLibrary.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  ASSERT_NE(initialize, nullptr);
  EXPECT_EQ(initialize(), 1);
}

TEST(TracerLibrary, AThousandShellsSayAndKeepNothing) {
  FakeCollector collector;
  for (int i = 0; i < 1000; ++i) {
    const ChildResult result = RunTraced({"sh", "-c", "true"}, collector);
    ASSERT_EQ(result.exit_code, 0);
    ASSERT_EQ(result.output, "");
  }
  EXPECT_TRUE(collector.hellos().empty());
}

// The shell lists itself, without a pipe, whose descriptors would come and go.
TEST(TracerLibrary, AddsNoDescriptorAndNoThreadToAShell) {
  FakeCollector collector;
  const std::vector<std::string> shell = {"sh", "-c", "echo /proc/$$/fd/* /proc/$$/task/*"};
  const auto without_pids = [](const std::string& text) {
    return std::regex_replace(text, std::regex("(/proc/|task/)[0-9]+"), "$1PID");
  };
  EXPECT_EQ(without_pids(RunTraced(shell, collector).output),
            without_pids(testing::RunChild(shell, {}).output));
}

TEST(TracerLibrary, ExitCodesPassThrough) {
  FakeCollector collector;
  EXPECT_EQ(RunTraced({"sh", "-c", "exit 77"}, collector).exit_code, 77);
  EXPECT_EQ(RunTraced({"sh", "-c", "kill -TERM $$"}, collector).exit_code, 128 + 15);
}

// A launcher passes LD_PRELOAD on, its workers need it; a rank's own children do not.
TEST(TracerLibrary, OnlyARankLeavesItsChildrensPreload) {
  FakeCollector collector;
  const std::string preload = "LD_PRELOAD=" + kLibrary + "\n";
  EXPECT_EQ(RunTraced({"sh", "-c", "env | grep LD_PRELOAD"}, collector).output, preload);
  EXPECT_EQ(RunTraced({TUTTI_NVTX_PROGRAM, "annotate", "env"}, collector).output, "LD_PRELOAD=\n");
}

// NVTX reads its variable in privileged programs too; we must then be inert.
TEST(TracerLibrary, IsInertInAPrivilegedProgram) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make a set-user-id program";
  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("tutti-suid-" + std::to_string(getpid()));
  std::filesystem::create_directory(directory);
  struct statvfs mount;
  ASSERT_EQ(statvfs(directory.c_str(), &mount), 0);
  const std::string program = directory / "program";
  std::filesystem::copy_file(TUTTI_NVTX_PROGRAM, program);
  FakeCollector collector;
  EXPECT_EQ(RunTraced({program, "annotate"}, collector).exit_code, 0);
  EXPECT_EQ(collector.hellos().size(), 1u);
  if ((mount.f_flag & ST_NOSUID) == 0) {
    ASSERT_EQ(chown(program.c_str(), 65534, 65534), 0);
    ASSERT_EQ(chmod(program.c_str(), 04755), 0);
    EXPECT_EQ(RunTraced({program, "annotate"}, collector).output, "");
    EXPECT_EQ(collector.hellos().size(), 1u);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace tutti::tracer
