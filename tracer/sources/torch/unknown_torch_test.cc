// A PyTorch that is not laid out like the known ones: the program must run as ever, the torch
// source must say what it found, and the rest of the tracer must go on.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <map>
#include <string>
#include <vector>

#include "tracer/testing/fake_collector.h"

namespace tutti::tracer::torch {
namespace {

using testing::DrainedRecord;
using testing::FakeCollector;
using wire::RecordKind;

struct Outcome {
  int status;
  std::map<std::string, std::string> notes;  // code -> detail
  std::vector<int64_t> allocations;
};

Outcome Record(const std::string& program) {
  FakeCollector collector;
  const std::string session = "TUTTI_SESSION=" + collector.session();
  char* environment[] = {const_cast<char*>("LD_PRELOAD=" TUTTI_TRACER),
                         const_cast<char*>(session.c_str()), nullptr};
  char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  pid_t pid = -1;
  EXPECT_EQ(posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, environment), 0);
  Outcome outcome{};
  EXPECT_EQ(waitpid(pid, &outcome.status, 0), pid);
  testing::SegmentReader& reader = collector.segment();
  for (const DrainedRecord& record : reader.Drain()) {
    if (record.kind() == RecordKind::kNote) {
      const auto note = record.As<wire::NoteRecord>();
      outcome.notes[reader.String(note.header.name)] = reader.String(note.detail);
    }
    if (record.kind() == RecordKind::kMemory) {
      outcome.allocations.push_back(record.As<wire::MemoryRecord>().delta_bytes);
    }
  }
  return outcome;
}

TEST(UnknownTorch, IsNamedWithWhatLiesElsewhere) {
  Outcome outcome = Record(TUTTI_UNKNOWN_LAYOUT);
  EXPECT_TRUE(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 7);
  ASSERT_TRUE(outcome.notes.contains("torch_layout"));
  EXPECT_EQ(outcome.notes.at("torch_layout"),
            "PyTorch 3.1.0 differs from the known releases (2.8 to 2.15) in its RecordFunction: "
            "how its callbacks are kept; operators are not recorded");
  EXPECT_EQ(outcome.notes["torch_version"], "3.1.0");
  EXPECT_EQ(outcome.allocations, (std::vector<int64_t>{128, 0})) << "other sources go on";
}

TEST(UnknownTorch, IsNamedWithWhatItLacks) {
  Outcome outcome = Record(TUTTI_UNKNOWN_SYMBOLS);
  EXPECT_TRUE(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 7);
  ASSERT_TRUE(outcome.notes.contains("torch_layout"));
  EXPECT_EQ(outcome.notes.at("torch_layout"),
            "PyTorch 3.1.0 lacks _ZNK2at14RecordFunction4nameEv; operators are not recorded");
  EXPECT_EQ(outcome.notes["torch_version"], "3.1.0");
}

}  // namespace
}  // namespace tutti::tracer::torch
