#include "collector/importers/pickle/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <list>
#include <string>

namespace tutti::collector::importers::pickle {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;
using testing::Optional;

Document ReadWell(const std::string& bytes) {
  static std::list<std::string> inputs;  // which the documents refer to
  Result<Document> document = Read(inputs.emplace_back(bytes));
  EXPECT_TRUE(document.ok()) << document.status().message();
  if (!document.ok()) return Document();
  EXPECT_TRUE(document->problem.ok()) << document->problem.message();
  return std::move(*document);
}

std::string ErrorOf(std::string_view bytes) {
  const Result<Document> document = Read(bytes);
  return document.ok() ? document->problem.message() : document.status().message();
}

// {'a': [1, 300, -70000], 'b': ('x', None, True)} as pickle.dumps() writes it.
constexpr char kProtocol0[] =
    "(dp0\nVa\np1\n(lp2\nI1\naI300\naI-70000\nasVb\np3\n(Vx\np4\nNI01\ntp5\ns.";
const std::string kProtocol2 =
    "\x80\x02}q\x00(X\x01\x00\x00\x00"s
    "aq\x01]q\x02(K\x01M,\x01J\x90\xee\xfe\xff"
    "eX\x01\x00\x00\x00"s
    "bq\x03X\x01\x00\x00\x00xq\x04N\x88\x87q\x05u."s;
const std::string kProtocol4 =
    "\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
    "a\x94]\x94(K\x01M,\x01J\x90\xee\xfe\xff"
    "e\x8c\x01"
    "b\x94\x8c\x01x\x94N\x88\x87\x94u."s;

TEST(Read, GivesTheSameForEveryProtocol) {
  for (const std::string& bytes : {std::string(kProtocol0), kProtocol2, kProtocol4}) {
    const Document document = ReadWell(bytes);
    const std::span<const Value> numbers = document.root.Get("a").Items();
    ASSERT_EQ(numbers.size(), 3U);
    EXPECT_EQ(numbers[0].Int(), 1);
    EXPECT_EQ(numbers[1].Int(), 300);
    EXPECT_EQ(numbers[2].Int(), -70000);
    const std::span<const Value> tuple = document.root.Get("b").Items();
    ASSERT_EQ(tuple.size(), 3U);
    EXPECT_EQ(tuple[0].Text(), "x");
    EXPECT_TRUE(tuple[1].is_none());
    EXPECT_EQ(tuple[2].Bool(), true);
    EXPECT_EQ(document.bytes_read, bytes.size());
  }
}

TEST(Read, KeepsIntegersOfEveryWidth) {
  const Document document = ReadWell(
      "](I36028797018963967\nI36028797018963968\nI-36028797018963968\nI9223372036854775807\n"
      "I-9223372036854775808\nL18446744073709551615L\ne.");
  const std::span<const Value> items = document.root.Items();
  ASSERT_EQ(items.size(), 6U);
  EXPECT_EQ(items[0].Int(), 36028797018963967);
  EXPECT_EQ(items[1].Int(), 36028797018963968);
  EXPECT_EQ(items[2].Int(), -36028797018963968);
  EXPECT_EQ(items[3].Int(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(items[4].Int(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(items[5].kind(), ValueKind::kBigInt);
  EXPECT_EQ(items[5].Text(), "18446744073709551615");
  EXPECT_EQ(items[5].Bits64(), -1);
  EXPECT_EQ(document.big_integers, 1U);
}

TEST(Read, ReadsRealsAndBytes) {
  const Document document =
      ReadWell("\x80\x03](G?\xf8\x00\x00\x00\x00\x00\x00"s + "F-2.25\nC\x02\xff\x00"s + "e."s);
  const std::span<const Value> items = document.root.Items();
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].Number(), 1.5);
  EXPECT_EQ(items[1].Number(), -2.25);
  EXPECT_EQ(items[2].kind(), ValueKind::kBytes);
  EXPECT_EQ(items[2].Text(), "\xff\x00"s);
}

TEST(Read, SharesWhatIsRemembered) {
  // l = []; [l, l]; l.append(7) after both
  const Document document = ReadWell(
      "](]q\x01h\x01K\x07"
      "ah\x01"
      "e.");
  const std::span<const Value> items = document.root.Items();
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].identity(), items[1].identity());
  EXPECT_EQ(items[2].Items().size(), 1U);
}

TEST(Read, LastValueOfAKeyCounts) {
  const Document document = ReadWell("}(Va\nK\x01Va\nK\x02u.");
  EXPECT_EQ(document.root.Get("a").Int(), 2);
  EXPECT_TRUE(document.root.Get("b").is_none());
  EXPECT_FALSE(document.root.Has("b"));
}

TEST(Read, RefusesWhatCouldRunCode) {
  const std::string global = "\x80\x02}(X\x01\x00\x00\x00xcposix\ngetcwd\n)Ru."s;
  EXPECT_THAT(ErrorOf(global), HasSubstr("byte 10: it wants posix.getcwd"));
  EXPECT_FALSE(Read(global).ok());
  const std::string stack_global = "\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R."s;
  EXPECT_THAT(ErrorOf(stack_global), HasSubstr("os.system"));
  EXPECT_THAT(ErrorOf("(S'ls'\nios\nsystem\n."), HasSubstr("os.system"));
  EXPECT_THAT(ErrorOf("(cos\nsystem\nS'ls'\no."), HasSubstr("os.system"));
  EXPECT_THAT(ErrorOf("\x80\x02\x82\x05."), HasSubstr("extension 5"));
  EXPECT_THAT(ErrorOf("cbuiltins\neval\n."), HasSubstr("builtins.eval"));
}

TEST(Read, KnowsContainersOfTheStandardLibrary) {
  const Document document = ReadWell(
      "](ccollections\nOrderedDict\n)R(Va\nK\x01u"            // OrderedDict(a=1)
      "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R"  // defaultdict(list)
      "Vb\nK\x02s"
      "ccollections\nOrderedDict\n]](Vk\nK\x03"
      "ea\x85R"  // OrderedDict([['k', 3]])
      "c__builtin__\nset\n](K\x04K\x05"
      "e\x85R"                                   // {4, 5}
      "c_codecs\nencode\nV\xe9\nVlatin1\n\x86R"  // b'\xe9'
      "ctorch\nSize\n](K\x06K\x07"
      "e\x85R"  // torch.Size([6, 7])
      "e.");
  const std::span<const Value> items = document.root.Items();
  ASSERT_EQ(items.size(), 6U);
  EXPECT_EQ(items[0].Get("a").Int(), 1);
  EXPECT_EQ(items[1].Get("b").Int(), 2);
  EXPECT_EQ(items[2].Get("k").Int(), 3);
  EXPECT_EQ(items[3].kind(), ValueKind::kSet);
  EXPECT_EQ(items[3].Items().size(), 2U);
  EXPECT_EQ(items[4].Text(), "\xe9");
  EXPECT_EQ(items[5].Items().size(), 2U);
}

TEST(Read, IgnoresStatesOfPlainContainersAndCountsThem) {
  const Document document = ReadWell("ccollections\nOrderedDict\n)R}Vx\nK\x01sb.");
  EXPECT_EQ(document.root.kind(), ValueKind::kDict);
  EXPECT_EQ(document.ignored_states, 1U);
}

TEST(Read, LeavesPersistentIdsOutside) {
  const Document document = ReadWell("](Pstorage 1\nVx\nQe.");
  ASSERT_EQ(document.root.Items().size(), 2U);
  EXPECT_EQ(document.root.Items()[0].kind(), ValueKind::kObject);
  EXPECT_EQ(document.root.Items()[0].Items()[0].Text(), "storage 1");
}

TEST(Read, GivesThePartBeforeACut) {
  for (const std::string& bytes : {std::string(kProtocol0), kProtocol2, kProtocol4}) {
    for (size_t size = 1; size < bytes.size(); ++size) {
      const std::string cut = bytes.substr(0, size);
      const Result<Document> document = Read(cut);
      const Status problem = document.ok() ? document->problem : document.status();
      EXPECT_FALSE(problem.ok()) << size;
      EXPECT_THAT(problem.message(), HasSubstr("byte ")) << size;
      if (!document.ok()) continue;
      // What is there is right: 'a' is no more than its first elements.
      const std::span<const Value> numbers = document->root.Get("a").Items();
      ASSERT_LE(numbers.size(), 3U) << size;
      constexpr int64_t kExpected[] = {1, 300, -70000};
      for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i].Int(), kExpected[i]) << size;
    }
  }
  const std::string cut = kProtocol2.substr(0, kProtocol2.size() - 5);
  EXPECT_EQ(Read(cut)->root.Get("a").Items().size(), 3U);
}

TEST(Read, SaysWhereADamagedOneIsDamaged) {
  EXPECT_EQ(ErrorOf(""), "the file is empty");
  EXPECT_THAT(ErrorOf("\x80\x02\xff"), HasSubstr("byte 2: no pickle opcode is 0xff"));
  EXPECT_THAT(ErrorOf("0"), HasSubstr("byte 0"));
  EXPECT_THAT(ErrorOf("h\x05."), HasSubstr("not remembered"));
  EXPECT_THAT(ErrorOf("}Va\nu."), HasSubstr("a mark that was not set"));
  EXPECT_THAT(ErrorOf("}(Va\nu."), HasSubstr("no value"));
  EXPECT_THAT(ErrorOf("N(Va\ne."), HasSubstr("no list"));
  EXPECT_THAT(ErrorOf("(."), HasSubstr("without a result"));
  EXPECT_THAT(ErrorOf("\x80\x09N."), HasSubstr("newer than 5"));
  EXPECT_THAT(ErrorOf("X\xff\xff\xff\xff"), HasSubstr("cut off"));
  EXPECT_THAT(ErrorOf("\x8d\xff\xff\xff\xff\xff\xff\xff\xffx"), HasSubstr("cut off"));
  EXPECT_THAT(ErrorOf("\x80\x05\x97."), HasSubstr("out-of-band"));
}

TEST(Read, StaysWithinTheMemoryItPromises) {
  const std::string worst[] = {
      std::string(1 << 20, ']'),                // lists
      std::string(1 << 20, ')'),                // tuples
      std::string(1 << 20, '('),                // marks
      "]" + std::string(1 << 20, '2'),          // copies of a reference
      "](" + std::string(1 << 20, 'N') + "e.",  // elements
      [] {
        std::string s = "N";
        for (int i = 0; i < 200'000; ++i) s += "\x94";
        return s;
      }(),
  };
  for (const std::string& bytes : worst) {
    const Result<Document> document = Read(bytes);
    const size_t used = document.ok() ? document->arena.bytes() : 0;
    EXPECT_LE(used, kMemoryPerByte * bytes.size());
  }
}

TEST(Read, DoesNotMultiplyWhatIsShared) {
  // a list of 1,000 made into a list again 100,000 times
  std::string bytes = "ccollections\ndeque\nq\x01]q\x02("s;
  for (int i = 0; i < 1000; ++i) bytes += 'N';
  bytes += "e";
  for (int i = 0; i < 100'000; ++i) bytes += "h\x01h\x02\x85R";
  EXPECT_THAT(ErrorOf(bytes + "."), HasSubstr("copies its own values too often"));
}

TEST(Read, DoesNotRecurse) {
  std::string bytes(1'000'000, ']');
  for (int i = 0; i < 999'999; ++i) bytes += 'a';
  bytes += '.';
  const Document document = ReadWell(bytes);
  EXPECT_EQ(document.root.Items().size(), 1U);
}

TEST(LooksLikePickle, KnowsBeginnings) {
  EXPECT_TRUE(LooksLikePickle(kProtocol0));
  EXPECT_TRUE(LooksLikePickle(kProtocol2));
  EXPECT_TRUE(LooksLikePickle(kProtocol4));
  EXPECT_FALSE(LooksLikePickle("{\"a\": 1}"));
  EXPECT_FALSE(LooksLikePickle("[1, 2]"));
  EXPECT_FALSE(LooksLikePickle(""));
}

}  // namespace
}  // namespace tutti::collector::importers::pickle
