// A user's own NVTX tool (chained_tool.c) keeps working behind ours, in traced processes and
// in candidates, and gets its own handles back.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tracer/testing/child.h"
#include "tracer/testing/fake_collector.h"

namespace tutti::tracer::nvtx {
namespace {

using testing::ChildResult;
using wire::RecordKind;

class ChainTest : public ::testing::Test {
 protected:
  ChainTest()
      : collector_(testing::FakeCollector::Options{.shape = {1024, 1u << 18, {{4, 1024}}}}) {}

  ChildResult Run(std::vector<std::string> arguments, const std::string& chained) {
    arguments.insert(arguments.begin(), TUTTI_NVTX_PROGRAM);
    testing::Environment environment =
        testing::TracedEnvironment(TUTTI_TRACER_LIBRARY, collector_.session());
    environment.push_back({"TUTTI_NVTX_CHAIN", chained});
    return testing::RunChild(arguments, environment);
  }

  static std::vector<std::string> Lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  std::vector<std::string> NotesNamed(const std::string& code) {
    testing::SegmentReader& reader = collector_.segment();
    std::vector<std::string> details;
    for (const auto& record : reader.DrainKind(RecordKind::kNote)) {
      const auto note = record.As<wire::NoteRecord>();
      if (reader.String(note.header.name) == code) details.push_back(reader.String(note.detail));
    }
    return details;
  }

  testing::FakeCollector collector_;
};

TEST_F(ChainTest, TheUsersToolSeesWhatItWouldSeeAlone) {
  const ChildResult alone = testing::RunChild({TUTTI_NVTX_PROGRAM, "annotate"},
                                              {{"NVTX_INJECTION64_PATH", TUTTI_CHAINED_TOOL}});
  const ChildResult chained = Run({"annotate"}, TUTTI_CHAINED_TOOL);
  EXPECT_EQ(chained.exit_code, 0) << "line of nvtx_program.c, modulo 256";
  // Alone the tool's gaps end the program early (it tracks no levels); what it saw until then
  // must come first, in the same order.
  const std::vector<std::string> expected = Lines(alone.output);
  std::vector<std::string> seen = Lines(chained.output);
  ASSERT_FALSE(expected.empty());
  for (const char* line :
       {"Initialize", "DomainCreate test domain", "NameCudaDevice 0 device", "Mark tutti/go",
        "Push crossing", "RegisterString test domain/registered", "Mark test domain/registered",
        "Mark mark a", "Start start a", "End 1001", "Schema test domain/numbers",
        "MarkPayload test domain 77 1"}) {
    EXPECT_EQ(std::ranges::count(seen, line), 1) << line;
  }
  EXPECT_EQ(chained.output.find("FOREIGN"), std::string::npos) << chained.output;
  seen.resize(std::min(seen.size(), expected.size()));
  EXPECT_EQ(seen, expected);
}

TEST_F(ChainTest, OursRecordsUnderTheUsersHandles) {
  ASSERT_EQ(Run({"annotate"}, TUTTI_CHAINED_TOOL).exit_code, 0);
  testing::SegmentReader& reader = collector_.segment();
  std::vector<std::string> names;
  for (const auto& record : reader.Drain()) {
    if (record.kind() != RecordKind::kMark) continue;
    const auto mark = record.As<wire::MarkRecord>();
    names.push_back(reader.String(mark.domain) + "/" + reader.String(mark.header.name));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"tutti/go", "test domain/registered", "/registered",
                                             "/mark a", "/mark w", "test domain/from a pointer"}));
}

TEST_F(ChainTest, ACandidatesToolWorksToo) {
  const ChildResult result = Run({}, TUTTI_CHAINED_TOOL);
  EXPECT_TRUE(collector_.hellos().empty());
  EXPECT_NE(result.output.find("NameCudaDevice 0 device"), std::string::npos);
}

TEST_F(ChainTest, AToolThatCannotBeLoadedIsNoted) {
  const ChildResult result = Run({"annotate"}, "/nonexistent/tool.so");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(NotesNamed("nvtx_chain"),
            (std::vector<std::string>{
                "the NVTX tool /nonexistent/tool.so of the environment can't be loaded"}));
}

TEST_F(ChainTest, OurselvesAreNotChained) {
  EXPECT_EQ(Run({"annotate"}, TUTTI_TRACER_LIBRARY).exit_code, 0);
  EXPECT_TRUE(NotesNamed("nvtx_chain").empty());
}

}  // namespace
}  // namespace tutti::tracer::nvtx
