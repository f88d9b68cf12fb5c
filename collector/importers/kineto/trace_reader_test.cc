#include "collector/importers/kineto/trace_reader.h"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collector/importers/kineto/json_text.h"
#include "collector/importers/kineto/testing/text_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tutti::collector::importers::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// What a text was read as.
struct Reading : TraceHandler {
  std::vector<std::string> names;  // of events, decoded
  std::vector<int64_t> offsets;    // of events
  std::map<std::string, std::string> keys;
  std::map<Problem, std::pair<int64_t, int64_t>> problems;  // count, first offset
  int64_t documents = 0;
  int64_t bytes = 0;

  void OnEvent(const RawEvent& event) override {
    names.push_back(DecodeString(event.name));
    offsets.push_back(event.offset);
  }
  void OnKey(std::string_view key, std::string_view value, int64_t) override {
    keys[std::string(key)] = value;
  }
  void OnProblem(Problem problem, int64_t count, int64_t offset) override {
    problems.try_emplace(problem, 0, offset).first->second.first += count;
  }
};

Reading Read(const std::string& text, size_t window = size_t{1} << 20, size_t piece = SIZE_MAX) {
  Reading reading;
  TextSource source(text, piece);
  ReaderOptions options;
  if (window < options.window_bytes) options.max_event_bytes = std::max<size_t>(window, 4096);
  options.window_bytes = window;
  TraceReader reader(source, reading, options);
  EXPECT_TRUE(reader.Read().ok());
  reading.documents = reader.documents();
  reading.bytes = reader.bytes();
  return reading;
}

TEST(TraceReader, ReadsEventsBetweenOtherKeys) {
  const Reading reading =
      Read(R"({"schemaVersion": 1, "traceEvents": [{"name": "a", "ph": "X"}, {"name": "b"}],
               "INFO": ["x", {"y": []}], "baseTimeNanoseconds": 17})");
  EXPECT_THAT(reading.names, ElementsAre("a", "b"));
  EXPECT_THAT(reading.keys,
              UnorderedElementsAre(Pair("schemaVersion", "1"), Pair("INFO", R"(["x", {"y": []}])"),
                                   Pair("baseTimeNanoseconds", "17")));
  EXPECT_THAT(reading.problems, IsEmpty());
}

TEST(TraceReader, ReadsABareArray) {
  EXPECT_THAT(Read("\xef\xbb\xbf [{\"name\":\"a\"},\n{\"name\":\"b\"} ]\n").names,
              ElementsAre("a", "b"));
  EXPECT_THAT(Read("[]").names, IsEmpty());
  EXPECT_THAT(Read("[]").problems, IsEmpty());
}

TEST(TraceReader, ReadsSeveralDocumentsAndOneEventALine) {
  const Reading several = Read(R"({"traceEvents":[{"name":"a"}]} [{"name":"b"}])");
  EXPECT_THAT(several.names, ElementsAre("a", "b"));
  EXPECT_EQ(several.documents, 2);
  const Reading lines = Read("{\"name\":\"a\",\"ph\":\"X\"}\n{\"ph\":\"X\",\"name\":\"b\"}\n");
  EXPECT_THAT(lines.names, ElementsAre("a", "b"));
  EXPECT_EQ(lines.documents, 1);
}

TEST(TraceReader, TellsWhereEventsStand) {
  const std::string text = R"({"traceEvents": [ {"name":"a"},{"name":"b"} ]})";
  const Reading reading = Read(text);
  EXPECT_THAT(reading.offsets, ElementsAre(18, 31));
  EXPECT_EQ(reading.bytes, static_cast<int64_t>(text.size()));
}

TEST(TraceReader, PassesOverAnEventWithRawQuotes) {
  const std::string text = R"({"traceEvents": [
    {"name": "a", "ph": "X"},
    {"name": "{"device": "cpu"}(12): run", "ph": "X", "ts": 1},
    {"name": "b", "args": {"x": [1, {"y": 2}]}},
    {"name": "odd"quote", "ph": "X"},
    {"name": "c"}]})";
  for (const size_t window : {64, 100, 1000, 100'000}) {
    const Reading reading = Read(text, window);
    EXPECT_THAT(reading.names, ElementsAre("a", "b", "c")) << window;
    EXPECT_THAT(reading.problems,
                ElementsAre(Pair(Problem::kMalformedEvent, Pair(2, text.find("{\"name\": \"{")))));
  }
}

TEST(TraceReader, TakesTheEndAfterALastEventWithOneQuoteTooMany) {
  const Reading reading = Read(R"({"traceEvents": [{"name":"a"}, {"name":"b"", "ts":1}], "k": 1})");
  EXPECT_THAT(reading.names, ElementsAre("a"));
  const Reading at_end = Read(R"({"traceEvents": [{"name":"a"}, {"name":"b"", "ts":1}]})");
  EXPECT_THAT(at_end.names, ElementsAre("a"));
  EXPECT_THAT(at_end.problems, ElementsAre(Pair(Problem::kMalformedEvent, Pair(1, 31))));
}

TEST(TraceReader, RepairsControlBytesAndBadUtf8) {
  const Reading reading = Read(std::string("[{\"name\":\"a\x01") +
                               "b\"},{\"name\":\"c\nd\"},"
                               "{\"name\":\"\xf0\x28\x8c\"},{\"name\":\"e\"}]");
  EXPECT_THAT(reading.names,
              ElementsAre(std::string("a\x01") + "b", "c\nd", "\xef\xbf\xbd(\xef\xbf\xbd", "e"));
  EXPECT_EQ(reading.problems.at(Problem::kControlBytes), std::pair(int64_t{2}, int64_t{1}));
  EXPECT_EQ(reading.problems.at(Problem::kInvalidUtf8).first, 1);
}

TEST(TraceReader, TakesNumbersThatAreNone) {
  const Reading reading =
      Read(R"([{"name":"a","args":{"x":inf,"y":-Infinity}},{"name":"b","ts":nan}])");
  EXPECT_THAT(reading.names, ElementsAre("a", "b"));
  EXPECT_THAT(reading.problems, IsEmpty());
}

TEST(TraceReader, ReadsUpToWhereATextIsCut) {
  const std::string text =
      R"({"traceEvents": [{"name": "a"}, {"name": "b", "args": {"c": [1]}}], "k": 1})";
  const size_t first_end = text.find("}, {") + 1;
  const size_t second_end = text.find("]}}") + 3;
  for (size_t kept = 0; kept < text.size(); ++kept) {
    const Reading reading = Read(text.substr(0, kept));
    const size_t events = kept >= second_end ? 2 : kept >= first_end ? 1 : 0;
    ASSERT_EQ(reading.names.size(), events) << kept;
    ASSERT_EQ(reading.problems.count(Problem::kTruncated), kept == 0 ? 0U : 1U) << kept;
    ASSERT_EQ(reading.problems.size(), kept == 0 ? 0U : 1U) << text.substr(0, kept);
  }
}

TEST(TraceReader, TakesATrailingComma) {
  EXPECT_THAT(Read("[{\"name\":\"a\"},{\"name\":\"b\"},]").names, ElementsAre("a", "b"));
}

TEST(TraceReader, CountsElementsThatAreNoEvents) {
  const Reading reading =
      Read(R"([1, {"name":"a"}, null, ["x", {"name":"no"}], {"name":"b"}, "s"])");
  EXPECT_THAT(reading.names, ElementsAre("a", "b"));
  EXPECT_EQ(reading.problems.at(Problem::kNotAnObject).first, 4);
}

TEST(TraceReader, SkipsAnEventThatIsTooLong) {
  const std::string text =
      R"([{"name":"a"},{"name":")" + std::string(10'000, 'x') + R"("},{"name":"b"}])";
  const Reading reading = Read(text, 256);
  EXPECT_THAT(reading.names, ElementsAre("a", "b"));
  EXPECT_EQ(reading.problems.at(Problem::kMalformedEvent), std::pair(int64_t{1}, int64_t{14}));
}

TEST(TraceReader, TakesAnyDepth) {
  const size_t depth = 2'000'000;
  std::string text = R"([{"name":"a","args":{"x":)" + std::string(depth, '[') +
                     std::string(depth, ']') + R"(}},{"name":"b"}])";
  EXPECT_THAT(Read(text).names, ElementsAre("a", "b"));
}

TEST(TraceReader, GoesOnAfterGarbage) {
  const Reading reading = Read("warning: x\n[{\"name\":\"a\"}] trailing");
  EXPECT_THAT(reading.names, ElementsAre("a"));
  EXPECT_EQ(reading.problems.at(Problem::kMalformedDocument).first, 2);
}

// The same events whatever the sizes of window and pieces, also with broken ones among them.
TEST(TraceReader, DoesNotDependOnWindows) {
  std::mt19937 random(11);
  std::string text = "{\"traceEvents\":[\n";
  std::vector<std::string> expected;
  int broken = 0;
  for (int event = 0; event < 400; ++event) {
    const std::string name = "n" + std::to_string(event) + std::string(random() % 40, 'x');
    if (event != 0) text += random() % 2 != 0 ? ",\n" : ", ";
    if (random() % 29 == 0 && event != 399) {
      text += "{\"ph\": \"X\", \"name\": \"bad\"" + name + "\"}";
      ++broken;
      continue;
    }
    expected.push_back(name);
    text += "{\"ph\": \"X\", \"name\": \"" + name +
            "\", \"args\": {\"list\": [{\"ph\": 1}, {\"ph\": " + std::to_string(random()) +
            "}], \"text\": \"}, {\\\"ph\\\"\"}}";
  }
  text += "]}";
  for (const size_t window : {150, 333, 1024, 4096, 65'536}) {
    for (const size_t piece : {size_t{7}, size_t{1000}, SIZE_MAX}) {
      const Reading reading = Read(text, window, piece);
      ASSERT_EQ(reading.names, expected) << window << " " << piece;
      ASSERT_EQ(reading.problems.at(Problem::kMalformedEvent).first, broken);
      ASSERT_EQ(reading.problems.size(), 1U);
    }
  }
}

TEST(JsonText, DecodesEscapes) {
  EXPECT_EQ(DecodeString(R"("a\"\\\/\n\tA")"), "a\"\\/\n\tA");
  EXPECT_EQ(DecodeString("\"\\u00e9\\ud83d\\ude00\""), "\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(DecodeString("\"\\ud800x\\udc00\""), "\xef\xbf\xbdx\xef\xbf\xbd");
  EXPECT_EQ(DecodeString("\"\\q\\u12\""), "\\q\\u12");
  EXPECT_EQ(DecodeString("17"), "17");
}

TEST(ArgOf, KnowsAllSpellings) {
  EXPECT_EQ(ArgOf("External id"), Arg::kExternalId);
  EXPECT_EQ(ArgOf("external id"), Arg::kExternalId);
  EXPECT_EQ(ArgOf("wait_on_cuda_event_record_corr_id"), Arg::kWaitOnRecordCorrelation);
  EXPECT_EQ(ArgOf("other"), Arg::kCount);
  EXPECT_EQ(ArgOf(""), Arg::kCount);
  for (size_t arg = 0; arg < kArgCount; ++arg) {
    EXPECT_EQ(ArgOf(ArgName(static_cast<Arg>(arg))), static_cast<Arg>(arg)) << arg;
  }
}

}  // namespace
}  // namespace tutti::collector::importers::kineto
