// The NVTX source in the test's own process, in the place of an NVTX library: what the
// tables get, what the functions return, and what they do from many threads at once.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tracer/sources/nvtx/event.h"
#include "tracer/sources/nvtx/extension.h"
#include "tracer/sources/nvtx/ignored.h"
#include "tracer/sources/nvtx/injection.h"
#include "tracer/sources/nvtx/ranges.h"
#include "tracer/sources/nvtx/schema.h"
#include "tracer/testing/rank_fixture.h"

namespace tutti::tracer::nvtx {
namespace {

using testing::DrainedRecord;
using wire::RecordKind;

// A library that uses NVTX: its function tables, as nvtxInit.h has them.
struct Host {
  static constexpr unsigned kSlots = 16;
  static inline NvtxFunctionPointer functions[NVTX_CB_MODULE_SIZE][kSlots];
  static inline NvtxFunctionPointer* tables[NVTX_CB_MODULE_SIZE][kSlots + 1];

  static int GetTable(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
    for (unsigned slot = 1; slot < kSlots; ++slot) tables[module][slot] = &functions[module][slot];
    *table = tables[module];
    *size = kSlots;
    return 1;
  }
  static const void* GetExportTable(uint32_t id) {
    static const NvtxExportTableCallbacks callbacks = {sizeof(callbacks), &GetTable};
    return id == NVTX_ETID_CALLBACKS ? &callbacks : nullptr;
  }
  template <typename Function>
  static Function Core(uint32_t slot) {
    return reinterpret_cast<Function>(functions[NVTX_CB_MODULE_CORE][slot]);
  }
  template <typename Function>
  static Function Core2(uint32_t slot) {
    return reinterpret_cast<Function>(functions[NVTX_CB_MODULE_CORE2][slot]);
  }
};

nvtxDomainHandle_t CreateDomain(const char* name) {
  return Host::Core2<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA)(name);
}
nvtxStringHandle_t RegisterString(nvtxDomainHandle_t domain, const char* text) {
  return Host::Core2<nvtxDomainRegisterStringA_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringA)(
      domain, text);
}
int PushA(const char* message) {
  return Host::Core<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA)(message);
}
int PopOne() { return Host::Core<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop)(); }
int PushIn(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return Host::Core2<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx)(
      domain, attributes);
}
int PopIn(nvtxDomainHandle_t domain) {
  return Host::Core2<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop)(domain);
}
void MarkIn(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  Host::Core2<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx)(domain, attributes);
}

nvtxEventAttributes_t Ascii(const char* message) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

class NvtxSourceTest : public testing::RankTest {
 protected:
  NvtxSourceTest() {
    EXPECT_EQ(InitializeInjection(&Host::GetExportTable), 1);
    BecomeRank({4096, 1u << 18, {{8, 8192}}});
  }

  template <typename Record>
  std::vector<Record> Drain(RecordKind kind) {
    std::vector<Record> records;
    for (const DrainedRecord& record : reader().DrainKind(kind)) {
      records.push_back(record.As<Record>());
    }
    return records;
  }
  std::string String(uint32_t index) { return reader().String(index); }
};

TEST_F(NvtxSourceTest, FillsEveryTableOfEachLibrary) {
  for (int library = 0; library < 2; ++library) {
    std::memset(Host::functions, 0, sizeof(Host::functions));
    ASSERT_EQ(InitializeInjection(&Host::GetExportTable), 1);
    for (const auto& [module, slots] :
         std::vector<std::pair<int, int>>{{NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_SIZE},
                                          {NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_SIZE},
                                          {NVTX_CB_MODULE_CUDA, NVTX_CBID_CUDA_SIZE},
                                          {NVTX_CB_MODULE_CUDART, NVTX_CBID_CUDART_SIZE},
                                          {NVTX_CB_MODULE_OPENCL, NVTX_CBID_OPENCL_SIZE},
                                          {NVTX_CB_MODULE_SYNC, NVTX_CBID_SYNC_SIZE}}) {
      for (int slot = 1; slot < slots; ++slot) {
        EXPECT_NE(Host::functions[module][slot], nullptr) << module << " " << slot;
      }
    }
  }
}

TEST_F(NvtxSourceTest, RefusesTablesThatItDoesNotKnow) {
  EXPECT_EQ(InitializeInjection(nullptr), 0);
  EXPECT_EQ(InitializeInjection([](uint32_t) -> const void* { return nullptr; }), 0);
  EXPECT_EQ(InitializeInjection([](uint32_t) -> const void* {
              static const size_t too_small = 8;
              return &too_small;
            }),
            0);
  EXPECT_EQ(InitializeExtension(nullptr), 0);
}

TEST_F(NvtxSourceTest, ACandidateTracksNoLevels) {
  Listen();
  EXPECT_EQ(PushA("x"), NVTX_NO_PUSH_POP_TRACKING);
  EXPECT_EQ(PopOne(), NVTX_NO_PUSH_POP_TRACKING);
  EXPECT_TRUE(IsCandidate());
}

TEST_F(NvtxSourceTest, DomainsOfOneNameAreOne) {
  const nvtxDomainHandle_t domain = CreateDomain("one name");
  EXPECT_NE(domain, nullptr);
  EXPECT_EQ(CreateDomain("one name"), domain);
  EXPECT_NE(CreateDomain("another name"), domain);
  const nvtxStringHandle_t string = RegisterString(domain, "text");
  EXPECT_EQ(RegisterString(domain, "text"), string);
  EXPECT_NE(RegisterString(nullptr, "text"), string);
}

// A range that was pushed while NVTX was switched off is not recorded, and its pop must not
// end the range around it.
TEST_F(NvtxSourceTest, SwitchingOffAndOnKeepsPairsTogether) {
  PushA("outer");
  reader().header().capture_mask.store(0);
  EXPECT_EQ(PushA("unseen"), 1);
  reader().header().capture_mask.store(wire::kCaptureNvtx);
  EXPECT_EQ(PopOne(), 1);
  PushA("inner");
  reader().header().capture_mask.store(0);
  EXPECT_EQ(PopOne(), 1);
  EXPECT_EQ(PopOne(), 0);
  const auto ranges = Drain<wire::RangeRecord>(RecordKind::kRange);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(String(ranges[0].header.name), "inner");
  EXPECT_EQ(String(ranges[1].header.name), "outer");
  EXPECT_EQ(reader().Lost(wire::LossReason::kUnbalancedEnd), 0u);
}

TEST_F(NvtxSourceTest, AnnotationsAreRecordedWhateverIsSwitchedOff) {
  reader().header().capture_mask.store(0);
  nvtxEventAttributes_t step = Ascii("step");
  step.category = 1;
  PushIn(CreateDomain("tutti"), &step);
  PopIn(CreateDomain("tutti"));
  PushIn(CreateDomain("plain"), &step);
  PopIn(CreateDomain("plain"));
  const auto ranges = Drain<wire::RangeRecord>(RecordKind::kRange);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(String(ranges[0].domain), "tutti");
  EXPECT_EQ(ranges[0].category, 1u);
}

TEST_F(NvtxSourceTest, ARangeStartedWhileSwitchedOffHasNoEnd) {
  auto* start = Host::Core<nvtxRangeStartA_impl_fntype>(NVTX_CBID_CORE_RangeStartA);
  auto* end = Host::Core<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd);
  reader().header().capture_mask.store(0);
  const nvtxRangeId_t unseen = start("unseen");
  reader().header().capture_mask.store(wire::kCaptureNvtx);
  const nvtxRangeId_t seen = start("seen");
  reader().header().capture_mask.store(0);
  end(unseen);
  end(seen);
  const auto ends = Drain<wire::RangeEndRecord>(RecordKind::kRangeEnd);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].range_id, seen);
}

TEST_F(NvtxSourceTest, BadAttributesAreAnEventWithoutAnything) {
  nvtxEventAttributes_t old = Ascii("beyond what it says it holds");
  old.size = 8;
  nvtxEventAttributes_t null_message = Ascii(nullptr);
  MarkIn(nullptr, nullptr);
  MarkIn(nullptr, &old);
  MarkIn(nullptr, &null_message);
  const auto marks = Drain<wire::MarkRecord>(RecordKind::kMark);
  ASSERT_EQ(marks.size(), 3u);
  for (const wire::MarkRecord& mark : marks) EXPECT_EQ(mark.header.name, wire::kNoString);
}

TEST_F(NvtxSourceTest, TheLatestNameOfACategoryCounts) {
  auto* name =
      Host::Core2<nvtxDomainNameCategoryA_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryA);
  const nvtxDomainHandle_t domain = CreateDomain("with categories");
  name(domain, 5, "first");
  name(domain, 5 + Domain::kCategoryBuckets, "of the same bucket");
  name(domain, 5, "second");
  nvtxEventAttributes_t mark = Ascii("x");
  mark.category = 5;
  MarkIn(domain, &mark);
  MarkIn(CreateDomain("without"), &mark);
  const auto marks = Drain<wire::MarkRecord>(RecordKind::kMark);
  EXPECT_EQ(String(marks[0].category_name), "second");
  EXPECT_EQ(marks[1].category_name, wire::kNoString);
  EXPECT_EQ(marks[1].category, 5u);
}

TEST(Utf8FromWide, EncodesEachLengthAndReplacesWhatIsNoCharacter) {
  char out[32];
  const auto encode = [&](const wchar_t* text, size_t capacity = sizeof(out)) {
    return std::string(out, Utf8FromWide(text, out, capacity));
  };
  EXPECT_EQ(encode(L"aä€😀"), "aä€😀");
  const wchar_t broken[] = {static_cast<wchar_t>(0xd800), static_cast<wchar_t>(0x110000), L'x', 0};
  EXPECT_EQ(encode(broken), "\xef\xbf\xbd\xef\xbf\xbdx");
  EXPECT_EQ(encode(L"ää", 3), "ä");  // never half a character
  EXPECT_EQ(encode(L""), "");
}

TEST_F(NvtxSourceTest, ARankMadeByForkInternsItsStringsAgain) {
  const nvtxDomainHandle_t domain = CreateDomain("inherited");
  nvtxEventAttributes_t mark = Ascii("");
  mark.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  mark.message.registered = RegisterString(domain, "registered before");
  PushA("to shift the indices");
  PopOne();
  MarkIn(domain, &mark);
  const pid_t child = fork();
  if (child == 0) {
    if (!Promote("child")) _exit(1);
    MarkIn(domain, &mark);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  testing::SegmentReader& of_child = collector_->segment(1);
  const auto records = of_child.DrainKind(RecordKind::kMark);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(of_child.String(records[0].header().name), "registered before");
  EXPECT_EQ(of_child.String(records[0].As<wire::MarkRecord>().domain), "inherited");
}

TEST_F(NvtxSourceTest, ManyThreadsRegisterAndEmitAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 500;
  std::atomic<nvtxDomainHandle_t> shared_domain{nullptr};
  std::atomic<int> disagreements{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const nvtxDomainHandle_t domain = CreateDomain("shared by threads");
      nvtxDomainHandle_t expected = nullptr;
      if (!shared_domain.compare_exchange_strong(expected, domain) && expected != domain) {
        ++disagreements;
      }
      nvtxEventAttributes_t range = Ascii("");
      range.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
      range.category = 2;
      for (int i = 0; i < kRounds; ++i) {
        range.message.registered =
            RegisterString(domain, ("string " + std::to_string(i % 50)).c_str());
        Host::Core2<nvtxDomainNameCategoryA_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryA)(
            domain, 2, "category");
        if (PushIn(domain, &range) != 0) ++disagreements;
        if (PushA("inner") != 0) ++disagreements;
        if (PopOne() != 0) ++disagreements;
        if (PopIn(domain) != 0) ++disagreements;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(disagreements.load(), 0);
  size_t outer = 0;
  std::set<std::string> names;
  for (const auto& range : Drain<wire::RangeRecord>(RecordKind::kRange)) {
    if (String(range.domain) != "shared by threads") continue;
    ++outer;
    EXPECT_EQ(String(range.category_name), "category");
    names.insert(String(range.header.name));
  }
  EXPECT_EQ(outer, static_cast<size_t>(kThreads * kRounds));
  EXPECT_EQ(names.size(), 50u);
}

TEST_F(NvtxSourceTest, IgnoredCallsAreNotedAtPowersOfTwo) {
  const uint64_t before = IgnoredCalls(IgnoredGroup::kOpenClNames);
  auto* name = reinterpret_cast<nvtxNameClDeviceA_fakeimpl_fntype>(
      Host::functions[NVTX_CB_MODULE_OPENCL][NVTX_CBID_OPENCL_NameClDeviceA]);
  for (int i = 0; i < 9; ++i) name(nullptr, "device");
  EXPECT_EQ(IgnoredCalls(IgnoredGroup::kOpenClNames), before + 9);
  uint64_t noted = 0;
  const auto notes = Drain<wire::NoteRecord>(RecordKind::kNote);
  for (const wire::NoteRecord& note : notes) noted += note.count;
  EXPECT_EQ(notes.size(), 4u);  // at 1, 2, 4 and 8
  EXPECT_EQ(noted, 8u);
}

}  // namespace
}  // namespace tutti::tracer::nvtx
