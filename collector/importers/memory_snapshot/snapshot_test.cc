#include "collector/importers/memory_snapshot/snapshot.h"

#include <gtest/gtest.h>

#include <vector>

#include "collector/importers/pickle/json.h"

namespace tutti::collector::importers::memory_snapshot {
namespace {

// Everything in words, one line each.
class Teller : public Visitor {
 public:
  void OnSegment(const Segment& s) override {
    lines.push_back("segment " + std::to_string(s.address) + " " + std::to_string(s.bytes) + " " +
                    std::string(s.kind) + s.pool);
  }
  void OnBlock(const Block& b) override {
    lines.push_back("block " + std::to_string(b.address) + " " + std::to_string(b.bytes) + " " +
                    std::to_string(b.requested_bytes.value_or(-1)) + " " + std::string(b.state) +
                    " " + StackText(b.frames));
  }
  void OnEvent(const Event& e) override {
    lines.push_back(std::string(e.action) + " " + std::to_string(e.device) + " " +
                    std::to_string(e.address) + " " + std::to_string(e.bytes) + " " +
                    std::to_string(e.time_us.value_or(-1)));
  }
  void OnOddity(std::string_view what, int64_t count) override {
    lines.push_back(std::string(what) + " x" + std::to_string(count));
  }
  std::vector<std::string> lines;
};

std::vector<std::string> Tell(const char* json) {
  const Result<pickle::Document> document = pickle::ReadJson(json);
  EXPECT_TRUE(document.ok() && document->problem.ok());
  EXPECT_TRUE(IsSnapshot(document->root));
  Teller teller;
  Walk(document->root, std::string_view(json).size(), teller);
  return teller.lines;
}

TEST(Walk, ReadsACurrentSnapshot) {
  EXPECT_EQ(Tell(R"({
      "segments": [{"device": 0, "address": 1000, "total_size": 300, "stream": 0,
        "segment_type": "large", "segment_pool_id": [0, 1], "is_expandable": false, "frames": [],
        "blocks": [{"address": 1000, "size": 100, "requested_size": 90,
                    "state": "active_allocated",
                    "frames": [{"name": "f", "filename": "a.py", "line": 1},
                               {"name": "g", "filename": "b.py", "line": 2}]},
                   {"address": 1100, "size": 200, "requested_size": 0, "state": "inactive",
                    "frames": []}]}],
      "device_traces": [[], [{"action": "alloc", "addr": 18446744073709551615, "size": 5,
                              "stream": 0, "time_us": 7, "frames": []},
                             {"action": "oom", "size": 9, "device_free": 1, "time_us": 8}]],
      "external_annotations": [{}], "allocator_settings": {"a": 1}})"),
            (std::vector<std::string>{"segment 1000 300 large(0, 1)",
                                      "block 1000 100 90 active_allocated f (a.py:1)\ng (b.py:2)",
                                      "block 1100 200 0 inactive ", "alloc 1 -1 5 7", "oom 1 0 9 8",
                                      "external_annotations x1", "allocator_settings x1"}));
}

// torch 1.11 to 2.0: a list of segments; where a block is follows from those before it.
TEST(Walk, ReadsTheOldListOfSegments) {
  EXPECT_EQ(Tell(R"([{"device": 0, "address": 512, "total_size": 64, "allocated_size": 16,
                "active_size": 16, "segment_type": "small",
                "blocks": [{"size": 16, "state": "active_allocated",
                            "history": [{"addr": 512, "real_size": 12,
                                         "frames": [{"name": "f", "filename": "a.py",
                                                     "line": 3}]}]},
                           {"size": 48, "state": "inactive"}]}])"),
            (std::vector<std::string>{"segment 512 64 small",
                                      "block 512 16 12 active_allocated f (a.py:3)",
                                      "block 528 48 -1 inactive "}));
}

TEST(Walk, CountsWhatIsNotThere) {
  EXPECT_EQ(Tell(R"({"segments": [{"device": 0}, {"address": 1, "total_size": 2,
                                    "blocks": [{"state": "inactive"}]}],
                     "device_traces": [[{"action": "alloc"}, {}, 3]]})"),
            (std::vector<std::string>{"segment_not_readable x1", "segment 1 2 ",
                                      "block_not_readable x1", "event_not_readable x1",
                                      "event_not_readable x1", "event_not_readable x1"}));
}

// A history of a thousand events that a pickle claims a hundred thousand devices to have.
TEST(Walk, DoesNotMultiplyWhatIsShared) {
  std::string bytes = "}(Vdevice_traces\n](](";
  for (int i = 0; i < 1000; ++i) bytes += "}Vaction\nVsnapshot\ns";
  bytes += "eq\x01";
  for (int i = 0; i < 100'000; ++i) bytes += "h\x01";
  bytes += "eu.";
  const Result<pickle::Document> document = pickle::Read(bytes);
  ASSERT_TRUE(document.ok() && document->problem.ok()) << document->problem.message();
  Teller teller;
  Walk(document->root, bytes.size(), teller);
  EXPECT_LT(teller.lines.size(), 10 * bytes.size());
  EXPECT_EQ(teller.lines.back().substr(0, 23), "snapshot_repeats_itself");
}

}  // namespace
}  // namespace tutti::collector::importers::memory_snapshot
