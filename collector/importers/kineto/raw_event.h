// One event of a trace as its JSON tokens, before anything is understood. Every view points
// into the reader's window and is good until the handler returns.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::collector::importers::kineto {

// Arguments that are understood, whatever their spelling (arg_names.cc), and after them
// those that are known and have no place in the tables; these are counted.
enum class Arg : uint8_t {
  kCorrelation,
  kExternalId,
  kDevice,
  kStream,
  kContext,
  kGrid,
  kBlock,
  kRegisters,
  kSharedBytes,
  kQueued,
  kBytes,
  kKind,
  kGraphNodeId,
  kSequenceNumber,
  kForwardThread,
  kInputDims,
  kInputTypes,
  kScope,
  kPythonId,
  kPythonParentId,
  kCollectiveName,
  kInElements,
  kOutElements,
  kGroupSize,
  kDtype,
  kGroupName,
  kGroupDescription,
  kGroupRanks,
  kGlobalRankStart,
  kGlobalRankStride,
  kRank,
  kSequence,
  kCommsId,
  kSourceRank,
  kDestinationRank,
  kRootRank,
  kDeviceType,
  kDeviceId,
  kAddress,
  kMemoryBytes,
  kTotalAllocated,
  kTotalReserved,
  kSyncKind,
  kWaitOnStream,
  kWaitOnEvent,
  kWaitOnRecordCorrelation,
  kName,        // of metadata
  kLabels,      // of metadata
  kTaskType,    // Ascend
  kTaskStream,  // Ascend
  kFirstUnstored,
  kGraphId = kFirstUnstored,
  kBandwidth,
  kOccupancy,
  kBlocksPerSm,
  kWarpsPerSm,
  kCallbackId,
  kEventIndex,
  kRecordFunctionId,
  kInputStrides,
  kConcreteInputs,
  kCallStack,
  kModuleHierarchy,
  kPythonModuleId,
  kTraceName,
  kTraceIteration,
  kFinished,
  kSplitSizes,
  kKernelOfLaunch,
  kSortIndex,
  kOpCount,
  kOld2021,
  kCount,
};
inline constexpr size_t kArgCount = static_cast<size_t>(Arg::kCount);

// What `text`, a key without its quotes, means; kCount if it is not known. O(1).
Arg ArgOf(std::string_view text);
// How messages call an argument.
const char* ArgName(Arg arg);

// Parts of an event that are not arguments.
struct RawEvent {
  int64_t offset = 0;  // of its '{' in the decompressed document
  // Tokens as they stand in the text, strings with their quotes; empty: not there.
  std::string_view phase, name, category, pid, tid, time, duration, id, scope, binding;

  using Pair = std::pair<std::string_view, std::string_view>;  // key without quotes, token
  std::vector<Pair> other_args;  // of unknown names, in the order of the text
  int duplicate_keys = 0;        // the last of them counts, as everywhere
  int non_finite = 0;            // arguments that are NaN or infinite

  bool Has(Arg arg) const { return (present_[WordOf(arg)] & BitOf(arg)) != 0; }
  // Empty if it is not there.
  std::string_view Get(Arg arg) const {
    return Has(arg) ? args_[static_cast<size_t>(arg)] : std::string_view();
  }
  void Set(Arg arg, std::string_view token) {
    // Several names share an argument that is not stored.
    duplicate_keys += Has(arg) && arg < Arg::kFirstUnstored ? 1 : 0;
    present_[WordOf(arg)] |= BitOf(arg);
    args_[static_cast<size_t>(arg)] = token;
  }
  template <typename Function>
  void ForEachUnstored(Function&& function) const {
    constexpr size_t kFirst = static_cast<size_t>(Arg::kFirstUnstored);
    for (size_t word = kFirst / 64; word < kWords; ++word) {
      uint64_t bits = present_[word];
      if (word == kFirst / 64) bits &= ~uint64_t{0} << (kFirst % 64);
      for (; bits != 0; bits &= bits - 1) {
        function(static_cast<Arg>(word * 64 + static_cast<size_t>(std::countr_zero(bits))));
      }
    }
  }

  // All arguments, with a name for each.
  template <typename Function>
  void ForEachArg(Function&& function) const {
    for (size_t arg = 0; arg < kArgCount; ++arg) {
      if (Has(static_cast<Arg>(arg))) function(ArgName(static_cast<Arg>(arg)), args_[arg]);
    }
    for (const Pair& other : other_args) function(other.first, other.second);
  }

  // Forgets everything; keeps the memory.
  void Clear() {
    offset = 0;
    phase = name = category = pid = tid = time = duration = id = scope = binding = {};
    other_args.clear();
    duplicate_keys = 0;
    non_finite = 0;
    present_.fill(0);
  }

 private:
  static constexpr size_t kWords = (kArgCount + 63) / 64;
  static constexpr size_t WordOf(Arg arg) { return static_cast<size_t>(arg) / 64; }
  static constexpr uint64_t BitOf(Arg arg) {
    return uint64_t{1} << (static_cast<size_t>(arg) % 64);
  }

  std::array<uint64_t, kWords> present_{};
  std::array<std::string_view, kArgCount> args_;
};

}  // namespace tutti::collector::importers::kineto
