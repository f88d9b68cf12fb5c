// Buffers of CUPTI, as a program's recording dumped them, become the rows of that recording again:
// walked by our own tables, converted without the process, to the count and by name. The dump is
// made here, on the fake GPU; the samples that gpu_check packed on machines with one lie in
// samples/, a folder each, as sample.tar.xz unpacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "collector/convert/cupti/buffer_walk.h"
#include "collector/testing/spool_builder.h"
#include "tests/gpu/testing/dump_file.h"

namespace tutti::gpu {
namespace {

namespace cupti = collector::convert::cupti;
using cupti::ActivityKind;
using cupti::ActivityView;
using testing::DumpFile;

// Where the stamps of a record lie.
std::vector<uint16_t> StampsOf(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kConcurrentKernel:
    case ActivityKind::kMemcpy:
    case ActivityKind::kMemcpy2:
    case ActivityKind::kMemset:
    case ActivityKind::kJit:
      return {16, 24};
    case ActivityKind::kRuntime:
    case ActivityKind::kDriver:
    case ActivityKind::kSynchronization:
    case ActivityKind::kGraphTrace:
      return {8, 16};
    case ActivityKind::kOverhead:
      return {24, 32};
    case ActivityKind::kMemory2:
      return {32};
    default:
      return {};
  }
}

// Where the number of a record's text lies; 0: it has none.
uint16_t TextOf(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kConcurrentKernel:
      return cupti::KernelRecord::kName.offset;
    case ActivityKind::kDevice:
      return cupti::DeviceRecord::kName.offset;
    case ActivityKind::kMemory2:
      return cupti::MemoryRecord::kName.offset;
    default:
      return 0;
  }
}

using Record = std::vector<std::byte>;

uint64_t Word(const Record& record, uint16_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, record.data() + offset, sizeof(word));
  return word;
}

ActivityKind KindOf(const Record& record) {
  return static_cast<ActivityKind>(static_cast<uint32_t>(Word(record, 0)));
}

class ReplayTest : public collector::testing::ConvertTest {
 protected:
  // Every record of |dump|, whose buffers our tables must walk to their ends.
  static std::vector<Record> RecordsOf(const DumpFile& dump) {
    std::vector<Record> records;
    for (const auto& buffer : dump.buffers) {
      size_t at = 0;
      const cupti::Walk walk =
          cupti::WalkBuffer(buffer, dump.cupti_version, [&](uint32_t, ActivityView view) {
            const auto begin = buffer.begin() + static_cast<ptrdiff_t>(at);
            records.emplace_back(begin, begin + static_cast<ptrdiff_t>(view.size()));
            at += view.size();
          });
      EXPECT_EQ(walk.end, cupti::WalkEnd::kComplete);
    }
    return records;
  }

  // Places all stamps within the one second that the test's clock covers.
  static void Rebase(std::vector<Record>& records) {
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    const auto each_stamp = [&](auto&& handler) {
      for (Record& record : records) {
        for (const uint16_t offset : StampsOf(KindOf(record))) {
          if (const uint64_t stamp = Word(record, offset); stamp != 0)
            handler(record, offset, stamp);
        }
      }
    };
    each_stamp([&](Record&, uint16_t, uint64_t stamp) {
      first = std::min(first, stamp);
      last = std::max(last, stamp);
    });
    const double scale = 9e8 / std::max(1.0, static_cast<double>(last - first));
    each_stamp([&](Record& record, uint16_t offset, uint64_t stamp) {
      const auto moved = 1 + static_cast<uint64_t>(static_cast<double>(stamp - first) * scale);
      std::memcpy(record.data() + offset, &moved, sizeof(moved));
    });
  }

  void Add(const DumpFile& dump, const Record& record) {
    const ActivityKind kind = KindOf(record);
    std::string text;
    if (kind == ActivityKind::kRuntime || kind == ActivityKind::kDriver) {
      const uint64_t domain = kind == ActivityKind::kRuntime ? 2 : 1;
      uint32_t id = 0;
      std::memcpy(&id, record.data() + cupti::ApiRecord::kCallbackId.offset, sizeof(id));
      if (const auto name = dump.call_names.find(domain << 32 | id);
          name != dump.call_names.end()) {
        text = name->second;
      }
    } else if (const uint16_t offset = TextOf(kind); offset != 0) {
      if (const uint64_t number = Word(record, offset); number != 0) text = dump.texts.at(number);
    }
    const size_t total = sizeof(wire::ActivityRecord) + record.size();
    std::vector<std::byte> cells((total + wire::kCellBytes - 1) / wire::kCellBytes *
                                 wire::kCellBytes);
    wire::ActivityRecord head{};
    head.header =
        collector::testing::Header(wire::RecordKind::kActivity, text.empty() ? 0 : String(text));
    head.header.cells = static_cast<uint8_t>(cells.size() / wire::kCellBytes);
    head.cupti_version = dump.cupti_version;
    head.bytes = static_cast<uint16_t>(record.size());
    std::memcpy(cells.data(), &head, sizeof(head));
    std::memcpy(cells.data() + sizeof(head), record.data(), record.size());
    spool().AddBytes(0, cells.data(), cells.size());
  }

  // "table name count" of all rows that GPU records become.
  static std::vector<std::string> Histogram(schema::Database& database) {
    std::vector<std::string> lines;
    const std::string named = "(SELECT text FROM string WHERE string.id = name_id)";
    const std::pair<std::string, std::string> tables[] = {
        {"kernel", named + " || grid_x || ifnull(graph_node_id, '')"},
        {"memcpy", "copy_kind || source_kind || destination_kind || bytes"},
        {"memset", "bytes || value"},
        {"api_call", named + " || api || return_value"},
        {"sync", "kind"},
        {"overhead", "(SELECT text FROM string WHERE string.id = kind_id)"},
        {"memory_event", "delta_bytes"},
        {"device", "name"},
        {"stream", "stream_id"}};
    for (const auto& [table, what] : tables) {
      const std::string where =
          table == "memory_event" ? " WHERE device_type = 'cuda' " : std::string();
      auto statement = database.Prepare("SELECT '" + table + " ' || ifnull(" + what +
                                        ", '') || ' ' || count(*) FROM " + table + where +
                                        " GROUP BY " + what + " ORDER BY 1");
      EXPECT_TRUE(statement.ok()) << statement.status().message();
      for (auto row = statement->Step(); row.ok() && *row; row = statement->Step()) {
        const auto line = statement->Get<std::string>(0);
        EXPECT_TRUE(line.ok());
        if (line.ok()) lines.push_back(*line);
      }
    }
    return lines;
  }

  void Replay(const std::string& dump_path, const std::string& rank_file) {
    const auto dump = testing::ReadDump(dump_path);
    ASSERT_TRUE(dump.has_value()) << dump_path;
    std::vector<Record> records = RecordsOf(*dump);
    ASSERT_FALSE(records.empty());
    Rebase(records);
    for (const Record& record : records) Add(*dump, record);
    Convert();
    auto recorded = schema::Database::OpenReadOnly(rank_file);
    ASSERT_TRUE(recorded.ok()) << recorded.status().message();
    EXPECT_EQ(Histogram(database()), Histogram(*recorded));
    EXPECT_THAT(Findings(), ::testing::IsEmpty());
  }

  // Records a program on the fake GPU; its dump and its rank file.
  void ReplayProgram(const std::string& program) {
    const std::string folder = directory_.path();
    const std::string command =
        "TUTTI_CUPTI_DUMP=" + folder +
        "/dump TUTTI_CUPTI_LIBRARY=" TUTTI_FAKE_CUPTI " " TUTTI_PROGRAM " record -o " + folder +
        "/run -- " TUTTI_GPU_TRUTH " " + program + " > /dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    std::string dump;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename().string().starts_with("dump.")) dump = entry.path();
    }
    ASSERT_NE(dump, "");
    Replay(dump, folder + "/run/rank-00000.sqlite");
  }
};

TEST_F(ReplayTest, AGraphsNodes) { ReplayProgram("graphs"); }
TEST_F(ReplayTest, CopiesAndFills) { ReplayProgram("copies"); }
TEST_F(ReplayTest, StreamsAndWaits) { ReplayProgram("streams"); }
TEST_F(ReplayTest, Allocations) { ReplayProgram("pools"); }

// Of each sample, the programs that it holds.
TEST_F(ReplayTest, SamplesOfRealGpus) {
  const std::filesystem::path samples = TUTTI_SOURCE_DIR "/tests/gpu/samples";
  if (!std::filesystem::exists(samples)) GTEST_SKIP() << "no machine with a GPU gave one yet";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(samples)) {
    const std::string name = entry.path().filename();
    const size_t dot = name.find(".cupti.");
    if (dot == std::string::npos) continue;
    SCOPED_TRACE(entry.path());
    Replay(entry.path(), entry.path().parent_path() / name.substr(0, dot) / "rank-00000.sqlite");
  }
}

}  // namespace
}  // namespace tutti::gpu
