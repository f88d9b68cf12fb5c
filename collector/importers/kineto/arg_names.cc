// Spellings of arguments. Kineto's are those of libkineto/src/output_json.cpp and
// GenericTraceActivity metadata, of torch/csrc/profiler/{collection,util}.cpp and
// torch/csrc/distributed/c10d/ParamCommsUtils.hpp since 2021; Ascend's those of msprof.
#include <array>
#include <cstring>

#include "collector/importers/kineto/raw_event.h"

namespace tutti::collector::importers::kineto {
namespace {

struct Spelling {
  std::string_view text;
  Arg arg;
};

constexpr Spelling kSpellings[] = {
    {"correlation", Arg::kCorrelation},
    {"External id", Arg::kExternalId},
    {"external id", Arg::kExternalId},
    {"device", Arg::kDevice},
    {"stream", Arg::kStream},
    {"context", Arg::kContext},
    {"grid", Arg::kGrid},
    {"block", Arg::kBlock},
    {"registers per thread", Arg::kRegisters},
    {"shared memory", Arg::kSharedBytes},
    {"queued", Arg::kQueued},
    {"bytes", Arg::kBytes},
    {"kind", Arg::kKind},
    {"graph node id", Arg::kGraphNodeId},
    {"graph id", Arg::kGraphId},
    {"Sequence number", Arg::kSequenceNumber},
    {"Fwd thread id", Arg::kForwardThread},
    {"Input Dims", Arg::kInputDims},
    {"Input dims", Arg::kInputDims},
    {"Input type", Arg::kInputTypes},
    {"scope", Arg::kScope},
    {"Python id", Arg::kPythonId},
    {"Python parent id", Arg::kPythonParentId},
    {"Collective name", Arg::kCollectiveName},
    {"In msg nelems", Arg::kInElements},
    {"Out msg nelems", Arg::kOutElements},
    {"Group size", Arg::kGroupSize},
    {"dtype", Arg::kDtype},
    {"Process Group Name", Arg::kGroupName},
    {"Process Group ID", Arg::kGroupName},  // before torch 2.4
    {"Process Group Description", Arg::kGroupDescription},
    {"Process Group Ranks", Arg::kGroupRanks},
    {"Global rank start", Arg::kGlobalRankStart},
    {"Global rank stride", Arg::kGlobalRankStride},
    {"Rank", Arg::kRank},
    {"Seq", Arg::kSequence},
    {"Comms Id", Arg::kCommsId},
    {"Src Rank", Arg::kSourceRank},
    {"Dst Rank", Arg::kDestinationRank},
    {"Root Rank", Arg::kRootRank},
    {"Device Type", Arg::kDeviceType},
    {"Device Id", Arg::kDeviceId},
    {"Addr", Arg::kAddress},
    {"Bytes", Arg::kMemoryBytes},
    {"Total Allocated", Arg::kTotalAllocated},
    {"Total Reserved", Arg::kTotalReserved},
    {"cuda_sync_kind", Arg::kSyncKind},
    {"wait_on_stream", Arg::kWaitOnStream},
    {"wait_on_cuda_event_id", Arg::kWaitOnEvent},
    {"wait_on_cuda_event_record_corr_id", Arg::kWaitOnRecordCorrelation},
    {"name", Arg::kName},
    {"labels", Arg::kLabels},
    {"Task Type", Arg::kTaskType},
    {"task type", Arg::kTaskType},
    {"Stream Id", Arg::kTaskStream},
    {"stream id", Arg::kTaskStream},
    {"memory bandwidth (GB/s)", Arg::kBandwidth},
    {"est. achieved occupancy %", Arg::kOccupancy},
    {"theoretical occupancy %", Arg::kOccupancy},
    {"blocks per SM", Arg::kBlocksPerSm},
    {"warps per SM", Arg::kWarpsPerSm},
    {"cbid", Arg::kCallbackId},
    {"cid", Arg::kCallbackId},
    {"Ev Idx", Arg::kEventIndex},
    {"Profiler Event Index", Arg::kEventIndex},
    {"Record function id", Arg::kRecordFunctionId},
    {"Input Strides", Arg::kInputStrides},
    {"Concrete Inputs", Arg::kConcreteInputs},
    {"Call stack", Arg::kCallStack},
    {"Module Hierarchy", Arg::kModuleHierarchy},
    {"Python module id", Arg::kPythonModuleId},
    {"Trace name", Arg::kTraceName},
    {"Trace iteration", Arg::kTraceIteration},
    {"finished", Arg::kFinished},
    {"In split size", Arg::kSplitSizes},
    {"Out split size", Arg::kSplitSizes},
    {"kernel", Arg::kKernelOfLaunch},
    {"sort_index", Arg::kSortIndex},
    {"Op count", Arg::kOpCount},
    {"external ts", Arg::kOld2021},
    {"Device", Arg::kOld2021},
    {"Input names", Arg::kOld2021},
    {"Output dims", Arg::kOld2021},
    {"Output type", Arg::kOld2021},
    {"Output names", Arg::kOld2021},
    {"Extra arguments", Arg::kOld2021},
};
constexpr size_t kSpellingCount = std::size(kSpellings);
static_assert(kSpellingCount < 255);

constexpr size_t kSlots = 512;  // a power of two, sparse enough that most look-ups are one probe

// Four bytes as one number; compilers make one load of it.
constexpr uint32_t FourAt(const char* bytes) {
  const auto byte = [bytes](size_t at) {
    return static_cast<uint32_t>(static_cast<unsigned char>(bytes[at]));
  };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}

// From the ends and the length: names that begin alike end differently.
constexpr size_t SlotOf(std::string_view text) {
  uint64_t hash = text.size();
  if (text.size() >= 4) {
    const char* const end = text.data() + text.size();
    const char* const middle = text.data() + text.size() / 2 - 2;
    hash ^= uint64_t{FourAt(text.data())} << 32 | FourAt(end - 4);
    hash = (hash ^ FourAt(middle)) * 0xd6e8feb86659fd93ULL;
  } else {
    for (const char c : text) hash = hash << 8 | static_cast<unsigned char>(c);
  }
  return (hash * 0x9e3779b97f4a7c15ULL) >> 55;
}

// Open addressing; 255 is an empty slot.
constexpr std::array<uint8_t, kSlots> MakeSlots() {
  std::array<uint8_t, kSlots> slots{};
  for (uint8_t& slot : slots) slot = 255;
  for (size_t spelling = 0; spelling < kSpellingCount; ++spelling) {
    size_t slot = SlotOf(kSpellings[spelling].text);
    while (slots[slot] != 255) slot = (slot + 1) % kSlots;
    slots[slot] = static_cast<uint8_t>(spelling);
  }
  return slots;
}
constexpr std::array<uint8_t, kSlots> kTable = MakeSlots();

}  // namespace

Arg ArgOf(std::string_view text) {
  if (text.empty()) return Arg::kCount;
  for (size_t slot = SlotOf(text); kTable[slot] != 255; slot = (slot + 1) % kSlots) {
    const Spelling& spelling = kSpellings[kTable[slot]];
    if (spelling.text == text) return spelling.arg;
  }
  return Arg::kCount;
}

const char* ArgName(Arg arg) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.arg == arg) return spelling.text.data();  // literals end in NUL
  }
  return "?";
}

}  // namespace tutti::collector::importers::kineto
