#include "collector/convert/cupti/buffer_walk.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace tutti::collector::convert::cupti {
namespace {

// Records of |kinds| one after the other, all bytes but their kind 0.
std::vector<std::byte> BufferOf(const std::vector<uint32_t>& kinds, uint32_t version) {
  std::vector<std::byte> buffer;
  for (const uint32_t kind : kinds) {
    std::vector<std::byte> record(RecordBytes(kind, version));
    if (record.empty()) record.resize(8);  // of no kind that this version has
    std::memcpy(record.data(), &kind, sizeof(kind));
    buffer.insert(buffer.end(), record.begin(), record.end());
  }
  return buffer;
}

std::vector<size_t> Offsets(std::span<const std::byte> buffer, uint32_t version, Walk* walk) {
  std::vector<size_t> offsets;
  size_t offset = 0;
  *walk = WalkBuffer(buffer, version, [&](uint32_t, const ActivityView& view) {
    offsets.push_back(offset);
    offset += view.size();
  });
  return offsets;
}

TEST(WalkBuffer, HandsOnEachRecord) {
  const auto buffer = BufferOf({10, 5, 1, 17}, 130001);
  Walk walk;
  EXPECT_EQ(Offsets(buffer, 130001, &walk), (std::vector<size_t>{0, 216, 256, 352}));
  EXPECT_EQ(walk.end, WalkEnd::kComplete);
  EXPECT_EQ(walk.records, 4U);
  EXPECT_EQ(walk.bytes, buffer.size());
}

TEST(WalkBuffer, StopsAtARecordThatIsCut) {
  auto buffer = BufferOf({5, 10}, 130001);
  for (const size_t missing : {1, 100, 213}) {
    Walk walk;
    EXPECT_EQ(Offsets(std::span(buffer).first(buffer.size() - missing), 130001, &walk),
              std::vector<size_t>{0});
    EXPECT_EQ(walk.end, WalkEnd::kTruncated);
    EXPECT_EQ(walk.bytes, 40U);
  }
}

TEST(WalkBuffer, StopsAtAKindOfNoRelease) {
  for (const uint32_t kind : {0U, 6U, 60U, 0xffff'ffffU}) {
    Walk walk;
    EXPECT_EQ(Offsets(BufferOf({5, kind, 5}, 130001), 130001, &walk), std::vector<size_t>{0});
    EXPECT_EQ(walk.end, WalkEnd::kUnknownKind) << kind;
  }
}

TEST(WalkBuffer, ReadsANewerVersionAsTheNewestKnown) {
  EXPECT_EQ(RecordBytes(10, 999'999), RecordBytes(10, kNewestVersion));
  EXPECT_EQ(RecordBytes(10, 1), RecordBytes(10, kOldestVersion));
}

// The real library walks without a driver (up to CUDA 13.1; later ones need one).
class RealLibrary {
 public:
  explicit RealLibrary(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) return;
    next_record_ = reinterpret_cast<NextRecord*>(dlsym(handle_, "cuptiActivityGetNextRecord"));
    auto* get_version = reinterpret_cast<int (*)(uint32_t*)>(dlsym(handle_, "cuptiGetVersion"));
    if (get_version != nullptr) get_version(&version_);
  }
  bool ok() const { return next_record_ != nullptr && version_ != 0; }
  uint32_t version() const { return version_; }

  // Where its records begin; |last| is the code with which it ended.
  std::vector<size_t> Offsets(std::vector<std::byte>& buffer, int* last) const {
    std::vector<size_t> offsets;
    std::byte* record = nullptr;
    while ((*last = next_record_(buffer.data(), buffer.size(), &record)) == 0) {
      offsets.push_back(static_cast<size_t>(record - buffer.data()));
    }
    return offsets;
  }

 private:
  using NextRecord = int(std::byte*, size_t, std::byte**);
  void* handle_;
  NextRecord* next_record_ = nullptr;
  uint32_t version_ = 0;
};

// Any kind, now and then one that does not exist.
uint32_t Kind(std::mt19937& random) {
  return random() % 200 == 0 ? 99 : static_cast<uint32_t>(1 + random() % 52);
}

constexpr int kMaxLimitReached = 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED: the end of a buffer
constexpr int kInvalidKind = 21;      // CUPTI_ERROR_INVALID_KIND

// The one of the build, or those that TUTTI_CUPTI_LIBRARIES names (by colons).
std::vector<std::string> LibraryPaths() {
  const char* given = std::getenv("TUTTI_CUPTI_LIBRARIES");
  std::stringstream list(given != nullptr ? given : TUTTI_CUPTI_LIBRARY);
  std::vector<std::string> paths;
  for (std::string path; std::getline(list, path, ':');) paths.push_back(path);
  return paths;
}

class RealLibraryTest : public ::testing::Test {
 protected:
  template <typename Check>
  static void ForEachLibrary(Check&& check) {
    if (LibraryPaths().empty()) GTEST_SKIP() << "no libcupti here";
    for (const std::string& path : LibraryPaths()) {
      SCOPED_TRACE(path);
      const RealLibrary library(path.c_str());
      ASSERT_TRUE(library.ok());
      check(library);
    }
  }
};

TEST_F(RealLibraryTest, WalksEveryKindAsWeDo) {
  ForEachLibrary([](const RealLibrary& library) {
    for (uint32_t kind = 0; kind < 70; ++kind) {
      SCOPED_TRACE(kind);
      auto buffer = BufferOf({kind, kind, 5}, library.version());
      Walk walk;
      const auto ours = Offsets(buffer, library.version(), &walk);
      int last = 0;
      EXPECT_EQ(library.Offsets(buffer, &last), ours);
      EXPECT_EQ(last, walk.end == WalkEnd::kUnknownKind ? kInvalidKind : kMaxLimitReached);
    }
  });
}

TEST_F(RealLibraryTest, WalksMixedBuffersAsWeDo) {
  ForEachLibrary([](const RealLibrary& library) {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
      std::vector<uint32_t> kinds(random() % 40);
      for (uint32_t& kind : kinds) kind = Kind(random);
      auto buffer = BufferOf(kinds, library.version());
      // Cut, but not within a kind: the library would read beyond the buffer.
      if (round % 3 == 0 && !buffer.empty()) buffer.resize(random() % buffer.size() / 8 * 8);
      if (buffer.empty()) continue;
      Walk walk;
      const auto ours = Offsets(buffer, library.version(), &walk);
      int last = 0;
      EXPECT_EQ(library.Offsets(buffer, &last), ours);
      EXPECT_EQ(last, walk.end == WalkEnd::kUnknownKind ? kInvalidKind : kMaxLimitReached);
    }
  });
}

}  // namespace
}  // namespace tutti::collector::convert::cupti
