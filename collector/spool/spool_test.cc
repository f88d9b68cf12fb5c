#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "collector/os/files.h"
#include "collector/spool/reader.h"
#include "collector/spool/recover.h"
#include "collector/spool/writer.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::spool {
namespace {

constexpr char kName[] = "p0000.spool";

class SpoolTest : public ::testing::Test {
 protected:
  SpoolTest() : fd_(std::move(*os::OpenDirectory(directory_.path()))) {}

  SpoolWriter Create() {
    auto writer = SpoolWriter::Create(fd_.get(), kName);
    EXPECT_TRUE(writer.ok());
    return std::move(*writer);
  }
  SpoolReader Open() {
    auto reader = SpoolReader::Open(fd_.get(), kName);
    EXPECT_TRUE(reader.ok());
    return std::move(*reader);
  }
  std::vector<uint64_t> OffsetsIn(SpoolReader& reader, uint64_t limit) {
    std::vector<uint64_t> offsets;
    uint64_t at = 0;
    while (const auto chunk = reader.ChunkAt(at, limit)) {
      offsets.push_back(at);
      at = chunk->end_offset();
    }
    return offsets;
  }

  testing::TemporaryDirectory directory_;
  os::FileDescriptor fd_;
};

TEST_F(SpoolTest, ChunksComeBackAsTheyWereWritten) {
  SpoolWriter writer = Create();
  ASSERT_TRUE(writer.AppendBytes(ChunkKind::kStrings, "abc").ok());
  ASSERT_TRUE(writer.AppendStruct(ChunkKind::kClock, clock::ClockReading{1, 2, 3, 4}).ok());
  SpoolReader reader = Open();
  const auto first = reader.ChunkAt(0, writer.committed_bytes());
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->kind, ChunkKind::kStrings);
  const auto payload = reader.Read(*first);
  ASSERT_TRUE(payload.ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(payload->data()), payload->size()), "abc");
  const auto second = reader.ChunkAt(first->end_offset(), writer.committed_bytes());
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(reader.ReadStruct<clock::ClockReading>(*second)->monotonic_raw_ns, 3);
  EXPECT_FALSE(reader.ReadStruct<ProcessChunk>(*second).has_value());
  EXPECT_FALSE(reader.ChunkAt(second->end_offset(), writer.committed_bytes()).has_value());
}

TEST_F(SpoolTest, ANameIsTakenOnce) {
  const SpoolWriter writer = Create();
  EXPECT_FALSE(SpoolWriter::Create(fd_.get(), kName).ok());
}

TEST_F(SpoolTest, AtEveryLengthOnlyWholeChunksAreSeen) {
  SpoolWriter writer = Create();
  std::vector<uint64_t> ends{0};
  for (const char* text : {"", "a", "abcdef"}) {
    ASSERT_TRUE(writer.AppendBytes(ChunkKind::kStrings, text).ok());
    ends.push_back(writer.committed_bytes());
  }
  SpoolReader reader = Open();
  for (uint64_t limit = 0; limit <= writer.committed_bytes(); ++limit) {
    size_t whole = 0;
    while (whole + 1 < ends.size() && ends[whole + 1] <= limit) ++whole;
    EXPECT_EQ(OffsetsIn(reader, limit).size(), whole) << "limit " << limit;
  }
}

TEST_F(SpoolTest, DamagedHeadersEndTheFile) {
  SpoolWriter writer = Create();
  ASSERT_TRUE(writer.AppendBytes(ChunkKind::kStrings, "abc").ok());
  const uint64_t second = writer.committed_bytes();
  ASSERT_TRUE(writer.AppendBytes(ChunkKind::kStrings, "def").ok());
  const int fd = ::openat(fd_.get(), kName, O_RDWR | O_CLOEXEC);
  for (const uint64_t at : {uint64_t{0}, uint64_t{6}, uint64_t{15}}) {  // magic, version, length
    const uint8_t garbage = 0xEE;
    uint8_t saved = 0;
    SpoolReader reader = Open();
    ASSERT_EQ(::pread(fd, &saved, 1, static_cast<off_t>(second + at)), 1);
    ASSERT_EQ(::pwrite(fd, &garbage, 1, static_cast<off_t>(second + at)), 1);
    EXPECT_EQ(OffsetsIn(reader, reader.file_bytes()).size(), 1U);
    ASSERT_EQ(::pwrite(fd, &saved, 1, static_cast<off_t>(second + at)), 1);
  }
  ::close(fd);
}

// A write that fails half-way (file size limit) must leave the file as it was.
TEST_F(SpoolTest, AFailedWriteAddsNothing) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  SpoolWriter writer = Create();
  ASSERT_TRUE(writer.AppendBytes(ChunkKind::kStrings, "abc").ok());
  const uint64_t committed = writer.committed_bytes();
  const rlimit limit{committed + 1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_FALSE(writer.AppendBytes(ChunkKind::kStrings, std::string(4096, 'x')).ok());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  SpoolReader reader = Open();
  EXPECT_EQ(reader.file_bytes(), committed);
  EXPECT_EQ(writer.committed_bytes(), committed);
  ASSERT_TRUE(writer.AppendBytes(ChunkKind::kStrings, "def").ok());
  EXPECT_EQ(OffsetsIn(reader, reader.file_bytes()).size(), 2U);
}

TEST_F(SpoolTest, RecoveryFindsWhereToGoOn) {
  testing::SpoolBuilder builder(directory_.path(), kName, testing::SpoolBuilder::Process());
  builder.AddThread(2, 100);
  builder.AddThread(2, 100);
  builder.Flush(1'000);
  builder.AddThread(5, 101);
  builder.Flush(2'000);
  const uint64_t whole = builder.committed();
  const int fd = ::openat(fd_.get(), kName, O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_EQ(::write(fd, "CHNK torn", 9), 9);
  ::close(fd);
  SpoolReader reader = Open();
  const auto state = Recover(reader);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->end_offset, whole);
  EXPECT_EQ(state->next_position.at(2), 2U);
  EXPECT_EQ(state->next_position.at(5), 1U);
  EXPECT_FALSE(state->ended);
  EXPECT_STREQ(state->process.host, "node0");

  auto writer = SpoolWriter::Continue(fd_.get(), kName, state->end_offset);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->AppendStruct(ChunkKind::kEnd, EndChunk{}).ok());
  const auto again = Recover(reader);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->ended);
  EXPECT_EQ(again->end_offset, reader.file_bytes());
}

TEST_F(SpoolTest, AFileWithoutBeginningIsRefused) {
  {
    SpoolWriter writer = Create();
    ASSERT_TRUE(writer.AppendBytes(ChunkKind::kStrings, "abc").ok());
  }
  SpoolReader reader = Open();
  EXPECT_FALSE(Recover(reader).ok());
}

TEST_F(SpoolTest, NotesKeepTheirTexts) {
  const std::string note = EncodeNote(wire::NoteSeverity::kNotice, 7, 1, 2, "name", "source",
                                      std::string(100'000, 'd'), "");
  PayloadReader payload(std::as_bytes(std::span(note)));
  NoteChunk chunk;
  ASSERT_TRUE(payload.Read(chunk));
  EXPECT_EQ(chunk.count, 7);
  std::string_view text;
  ASSERT_TRUE(payload.ReadText(chunk.text_bytes[0], text));
  EXPECT_EQ(text, "name");
  ASSERT_TRUE(payload.ReadText(chunk.text_bytes[1], text));
  ASSERT_TRUE(payload.ReadText(chunk.text_bytes[2], text));
  EXPECT_EQ(text.size(), UINT16_MAX);
  ASSERT_TRUE(payload.ReadText(chunk.text_bytes[3], text));
  EXPECT_FALSE(payload.ReadText(1, text));
}

}  // namespace
}  // namespace tutti::collector::spool
