#include "collector/importers/byte_source.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tutti::collector::importers {
namespace {

using ::testing::HasSubstr;

std::string Deflated(const std::string& text, int gzip_flag) {
  isal_zstream stream;
  isal_deflate_init(&stream);
  // What is compressed already grows under igzip's fixed code.
  std::string packed(2 * text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uint32_t>(text.size());
  stream.next_out = reinterpret_cast<uint8_t*>(packed.data());
  stream.avail_out = static_cast<uint32_t>(packed.size());
  stream.end_of_stream = 1;
  stream.gzip_flag = static_cast<uint16_t>(gzip_flag);
  EXPECT_EQ(isal_deflate(&stream), COMP_OK);
  EXPECT_GT(stream.avail_out, 0U);
  packed.resize(stream.total_out);
  return packed;
}

std::string Gzipped(const std::string& text) { return Deflated(text, IGZIP_GZIP); }

std::string Zstandard(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

template <typename Number>
void Put(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

struct Packed {
  std::string name;
  std::string data;  // as stored
  uint16_t method = 0;
  std::string contents;
};

// An archive as `zip` writes it; with `large`, sizes and offsets stand in 64-bit fields.
std::string Zipped(const std::vector<Packed>& members, bool large = false) {
  std::string archive;
  std::string directory;
  for (const Packed& member : members) {
    const auto offset = static_cast<uint32_t>(archive.size());
    const uint32_t crc = crc32_gzip_refl(
        0, reinterpret_cast<const unsigned char*>(member.contents.data()), member.contents.size());
    const auto common = [&](std::string& out, bool wide) {
      Put<uint16_t>(out, 0);  // flags
      Put(out, member.method);
      Put<uint32_t>(out, 0);  // time
      Put(out, crc);
      Put(out, wide ? 0xffffffffU : static_cast<uint32_t>(member.data.size()));
      Put(out, wide ? 0xffffffffU : static_cast<uint32_t>(member.contents.size()));
      Put(out, static_cast<uint16_t>(member.name.size()));
    };
    Put<uint32_t>(archive, 0x04034b50);
    Put<uint16_t>(archive, 20);
    common(archive, false);
    Put<uint16_t>(archive, 0);
    archive += member.name + member.data;
    Put<uint32_t>(directory, 0x02014b50);
    Put<uint32_t>(directory, 20);
    common(directory, large);
    Put<uint16_t>(directory, large ? 28 : 0);  // extra
    directory.append(10, '\0');                // comment, disk, attributes
    Put(directory, large ? 0xffffffffU : offset);
    directory += member.name;
    if (!large) continue;
    Put<uint16_t>(directory, 1);
    Put<uint16_t>(directory, 24);
    Put<uint64_t>(directory, member.contents.size());
    Put<uint64_t>(directory, member.data.size());
    Put<uint64_t>(directory, offset);
  }
  const size_t directory_offset = archive.size();
  archive += directory;
  if (large) {
    const size_t record = archive.size();
    Put<uint32_t>(archive, 0x06064b50);
    archive.append(36, '\0');
    Put<uint64_t>(archive, directory.size());
    Put<uint64_t>(archive, directory_offset);
    Put<uint32_t>(archive, 0x07064b50);
    Put<uint32_t>(archive, 0);
    Put<uint64_t>(archive, record);
    Put<uint32_t>(archive, 1);
  }
  Put<uint32_t>(archive, 0x06054b50);
  archive.append(8, '\0');
  Put(archive, static_cast<uint32_t>(directory.size()));
  Put(archive, large ? 0xffffffffU : static_cast<uint32_t>(directory_offset));
  Put<uint16_t>(archive, 7);
  return archive + "comment";
}

class ByteSourceTest : public ::testing::Test {
 protected:
  ByteSourceTest() {
    std::string pattern = ::testing::TempDir() + "/tutti-bytes-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~ByteSourceTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& bytes) {
    const std::string path = directory_ + "/file" + std::to_string(++files_);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  // All of a source, read in pieces of `piece` bytes; what failed goes to `error`.
  static std::string ReadAll(ByteSource& source, size_t piece, std::string* error = nullptr) {
    std::string all;
    std::string buffer(piece, '\0');
    while (true) {
      const Result<size_t> got = source.Read(buffer.data(), buffer.size());
      if (!got.ok()) {
        if (error == nullptr) ADD_FAILURE() << got.status().message();
        if (error != nullptr) *error = got.status().message();
        return all;
      }
      if (*got == 0) return all;
      all.append(buffer, 0, *got);
    }
  }

  std::string Contents(const std::string& file, std::string* error = nullptr,
                       const ByteLimits& limits = {}, size_t piece = 70'001) {
    auto source = OpenBytes(Write(file), limits);
    if (!source.ok()) {
      ADD_FAILURE() << source.status().message();
      return {};
    }
    std::string all = ReadAll(**source, piece, error);
    refused_ = (*source)->refused();
    return all;
  }

  // About 3 MB that compress as traces do, some of it not at all.
  static std::string Text() {
    std::string text;
    uint32_t noise = 1;
    while (text.size() < 3'000'000) {
      noise = noise * 1664525 + 1013904223;
      text += R"({"ph":"X","cat":"kernel","ts":)" + std::to_string(noise) + "},\n";
    }
    return text;
  }

  std::string directory_;
  int files_ = 0;
  bool refused_ = false;
};

TEST_F(ByteSourceTest, ReadsPlainFiles) {
  EXPECT_EQ(Contents("[{}]"), "[{}]");
  EXPECT_EQ(Contents(""), "");
}

TEST_F(ByteSourceTest, InflatesGzip) {
  const std::string text = Text();
  EXPECT_EQ(Contents(Gzipped(text)), text);
  EXPECT_EQ(Contents(Gzipped("tiny"), nullptr, {}, 1), "tiny");
  EXPECT_EQ(Contents(Gzipped("")), "");
}

TEST_F(ByteSourceTest, JoinsGzipMembersAndIgnoresPaddingZeros) {
  EXPECT_EQ(Contents(Gzipped("one,") + Gzipped("two") + std::string(512, '\0')), "one,two");
}

TEST_F(ByteSourceTest, UnpacksWhatWasPackedTwice) {
  const std::string text = Text();
  EXPECT_EQ(Contents(Gzipped(Gzipped(text))), text);
  EXPECT_EQ(Contents(Gzipped(Zstandard(text)), nullptr, {}, 1'001), text);
  EXPECT_EQ(Contents(Zstandard(Gzipped("tiny"))), "tiny");
  EXPECT_EQ(Contents(Gzipped(Gzipped(""))), "");
  const std::string path = Write(Zipped({{"a.gz", Gzipped(text), 0, Gzipped(text)}}));
  const auto source = OpenZipMember(path, ListZip(path)->members.at(0));
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(ReadAll(**source, 4'096), text);
}

TEST_F(ByteSourceTest, TellsWhatIsWrongInsideOfWhatWasPackedTwice) {
  std::string inner = Gzipped(Text());
  inner.resize(inner.size() / 2);
  std::string error;
  EXPECT_TRUE(Text().starts_with(Contents(Gzipped(inner), &error)));
  EXPECT_THAT(error, HasSubstr("cut off"));
  const auto archive = OpenBytes(Write(Gzipped(Zipped({{"a", "b", 0, "b"}}))));
  EXPECT_THAT(archive.status().message(), HasSubstr("an archive inside packed data"));
  std::string layers = "x";
  for (int i = 0; i < 6; ++i) layers = Gzipped(layers);
  EXPECT_THAT(OpenBytes(Write(layers)).status().message(), HasSubstr("packed too many times"));
}

// Each layer stays below its ratio; together they don't.
TEST_F(ByteSourceTest, RefusesABombInTwoLayers) {
  const ByteLimits limits{.max_ratio = 20, .free_bytes = 1'000};
  std::string inner;
  for (int i = 0; i < 50; ++i) inner += Gzipped(std::string(2'000, 'a'));
  std::string error;
  EXPECT_EQ(Contents(Gzipped(inner), &error, {.max_ratio = 1'000, .free_bytes = 1'000}).size(),
            100'000U);
  EXPECT_LT(Contents(Gzipped(inner), &error, limits).size(), 20'000U);
  EXPECT_TRUE(refused_);
}

TEST_F(ByteSourceTest, SaysThatBytesFollowAGzipStream) {
  std::string error;
  EXPECT_EQ(Contents(Gzipped("one") + "xyz", &error), "one");
  EXPECT_THAT(error, HasSubstr("other bytes after"));
}

TEST_F(ByteSourceTest, GivesTheBeginningOfAGzipFileThatWasCutOff) {
  const std::string text = Text();
  const std::string packed = Gzipped(text);
  for (const size_t kept : {size_t{5}, packed.size() / 2, packed.size() - 3}) {
    std::string error;
    const std::string got = Contents(packed.substr(0, kept), &error);
    EXPECT_THAT(error, HasSubstr("cut off"));
    EXPECT_TRUE(text.starts_with(got));
    EXPECT_GE(got.size() + 200'000, text.size() * kept / packed.size());
  }
}

TEST_F(ByteSourceTest, ChecksTheChecksumOfGzip) {
  std::string packed = Gzipped("some contents");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  std::string error;
  EXPECT_EQ(Contents(packed, &error), "some contents");
  EXPECT_THAT(error, HasSubstr("wrong checksum"));
}

TEST_F(ByteSourceTest, ReadsZstdFramesAndSaysWhenTheyAreCutOff) {
  const std::string text = Text();
  const std::string packed = Zstandard(text);
  EXPECT_EQ(Contents(packed + packed), text + text);
  std::string error;
  EXPECT_TRUE(text.starts_with(Contents(packed.substr(0, packed.size() / 2), &error)));
  EXPECT_THAT(error, HasSubstr("cut off"));
}

TEST_F(ByteSourceTest, RefusesABomb) {
  const std::string zeros(3'000'000, '0');
  ByteLimits limits;
  limits.free_bytes = 1'000'000;
  limits.max_ratio = 50;  // what compresses here in one pass stays below 200
  for (const std::string& packed : {Gzipped(zeros), Zstandard(zeros)}) {
    std::string error;
    Contents(packed, &error, limits);
    EXPECT_THAT(error, HasSubstr("as no trace does"));
    EXPECT_TRUE(refused_);
  }
}

TEST_F(ByteSourceTest, AllowsAnyRatioForSmallContentsAndRefusesMoreThanTheCap) {
  const std::string zeros(3'000'000, '0');
  EXPECT_EQ(Contents(Gzipped(zeros)), zeros);
  ByteLimits limits;
  limits.max_bytes = 100'000;
  std::string error;
  Contents(Gzipped(Text()), &error, limits);
  EXPECT_THAT(error, HasSubstr("more than is allowed"));
}

TEST_F(ByteSourceTest, ReadsZipMembers) {
  const std::string text = Text();
  for (const bool large : {false, true}) {
    const std::string path =
        Write(Zipped({{"run/", "", 0, ""},
                      {"run/rank0.json", Deflated(text, IGZIP_DEFLATE), 8, text},
                      {"run/rank1.json", "[1]", 0, "[1]"},
                      {"rank2.json", Zstandard(text), 93, text}},
                     large));
    const auto archive = ListZip(path);
    ASSERT_TRUE(archive.ok()) << archive.status().message();
    ASSERT_EQ(archive->members.size(), 3U);
    EXPECT_FALSE(archive->is_cut_off);
    EXPECT_EQ(archive->members[1].name, "run/rank1.json");
    const std::string expected[] = {text, "[1]", text};
    for (size_t member = 0; member < 3; ++member) {
      auto source = OpenZipMember(path, archive->members[member]);
      ASSERT_TRUE(source.ok()) << source.status().message();
      EXPECT_EQ(ReadAll(**source, 70'001), expected[member]);
    }
  }
}

TEST_F(ByteSourceTest, ChecksZipMembers) {
  Packed wrong{"a", "[1]", 0, "[2]"};
  const std::string path = Write(Zipped({wrong}));
  const auto archive = ListZip(path);
  ASSERT_TRUE(archive.ok());
  auto source = OpenZipMember(path, archive->members.front());
  ASSERT_TRUE(source.ok());
  std::string error;
  ReadAll(**source, 10, &error);
  EXPECT_THAT(error, HasSubstr("wrong checksum"));
}

TEST_F(ByteSourceTest, ReadsWhatAnArchiveThatWasCutOffStillHolds) {
  const std::string text = Text();
  const std::string packed = Deflated(text, IGZIP_DEFLATE);
  const std::string whole = Zipped({{"a", packed, 8, text}, {"b", packed, 8, text}});
  const std::string path = Write(whole.substr(0, packed.size() + packed.size() / 2));
  const auto archive = ListZip(path);
  ASSERT_TRUE(archive.ok()) << archive.status().message();
  EXPECT_TRUE(archive->is_cut_off);
  ASSERT_EQ(archive->members.size(), 2U);
  EXPECT_EQ(archive->members[1].name, "b");
  EXPECT_EQ(ReadAll(**OpenZipMember(path, archive->members[0]), 70'001), text);
  std::string error;
  const std::string half = ReadAll(**OpenZipMember(path, archive->members[1]), 70'001, &error);
  EXPECT_TRUE(text.starts_with(half));
  EXPECT_GT(half.size(), text.size() / 4);
  EXPECT_THAT(error, HasSubstr("cut off"));
}

TEST_F(ByteSourceTest, ReadsNoFurtherThanAnArchiveThatWasCutOffAnywhere) {
  const std::string whole = Zipped({{"a", "[1]", 0, "[1]"}, {"b", "[2,3]", 0, "[2,3]"}});
  for (size_t kept = 4; kept < whole.size() - 30; ++kept) {
    const std::string path = Write(whole.substr(0, kept));
    const auto archive = ListZip(path);
    if (!archive.ok()) continue;
    for (const ZipMember& member : archive->members) {
      auto source = OpenZipMember(path, member);
      std::string error;
      if (source.ok()) {
        EXPECT_LE(ReadAll(**source, 10, &error).size(), kept);
      }
    }
  }
}

// As archives are written to a pipe: sizes and checksum stand behind the data.
TEST_F(ByteSourceTest, FindsTheEndsOfMembersWithoutSizes) {
  const std::string text = Text();
  const std::string packed = Deflated(text, IGZIP_DEFLATE);
  std::string bytes;
  for (const char* name : {"a", "b"}) {
    Put<uint32_t>(bytes, 0x04034b50);
    Put<uint16_t>(bytes, 20);
    Put<uint16_t>(bytes, 8);  // flags
    Put<uint16_t>(bytes, 8);  // deflated
    bytes.append(16, '\0');   // time, checksum, sizes
    Put<uint16_t>(bytes, 1);
    Put<uint16_t>(bytes, 0);
    bytes += name + packed;
    Put<uint32_t>(bytes, 0x08074b50);
    bytes.append(12, '\0');
  }
  const std::string path = Write(bytes);
  const auto archive = ListZip(path);
  ASSERT_TRUE(archive.ok()) << archive.status().message();
  ASSERT_EQ(archive->members.size(), 2U);
  for (const ZipMember& member : archive->members) {
    EXPECT_EQ(ReadAll(**OpenZipMember(path, member), 70'001), text);
  }
}

TEST_F(ByteSourceTest, RefusesBrokenArchives) {
  const std::string good = Zipped({{"a", "[1]", 0, "[1]"}});
  EXPECT_FALSE(ListZip(Write(good.substr(0, 30))).ok());
  EXPECT_FALSE(ListZip(Write("PK")).ok());
  // Every single damaged byte gives an error or a list, and members that can be tried.
  for (size_t at = 0; at < good.size(); ++at) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    const std::string path = Write(damaged);
    const auto archive = ListZip(path);
    if (!archive.ok()) continue;
    for (const ZipMember& member : archive->members) {
      auto source = OpenZipMember(path, member);
      std::string error;
      if (source.ok()) ReadAll(**source, 10, &error);
    }
  }
}

TEST_F(ByteSourceTest, ReadsHeads) {
  const auto head = [this](const std::string& bytes) {
    const auto text = ReadHead(Write(bytes), 4);
    return text.ok() ? *text : text.status().message();
  };
  EXPECT_EQ(head("abcdef"), "abcd");
  EXPECT_EQ(head("ab"), "ab");
  EXPECT_EQ(head(Gzipped("abcdef")), "abcd");
  EXPECT_EQ(head(Zipped({{"a", "[1,2]", 0, "[1,2]"}})), "[1,2");
}

TEST_F(ByteSourceTest, SaysWhatIsNoFile) {
  EXPECT_EQ(OpenBytes(directory_ + "/none").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(OpenBytes(directory_).status().message(), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace tutti::collector::importers
