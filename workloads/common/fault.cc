#include "workloads/common/fault.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace tutti::workloads {
namespace {

enum class Unit { kNone, kDuration, kCount, kBytes, kPercent };

// Which ranks and steps a kind may act on, and which it does if nothing is said.
enum class Ranks { kAny, kOne, kAll };       // any or all; rank 1; all at once and no choice
enum class Steps { kAny, kOne, kWholeRun };  // any or all; step 10; the run and no choice

struct KindTraits {
  FaultKind kind;
  std::string_view name;
  Unit unit;
  int64_t default_amount;  // kNeeded: must be given
  Ranks ranks;
  Steps steps;
  std::string_view what;  // it does, for --help; A stands for the amount
};

constexpr int64_t kNeeded = -1;
constexpr int kOneRank = 1;
constexpr int64_t kOneStep = 10;
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kKibibyte = 1024;
constexpr int64_t kMebibyte = 1024 * kKibibyte;

constexpr KindTraits kKinds[] = {
    {FaultKind::kSlowLoader, "slow_loader", Unit::kDuration, kNeeded, Ranks::kAny, Steps::kAny,
     "the loader's threads share a disk that takes A for a batch"},
    {FaultKind::kFewWorkers, "few_workers", Unit::kDuration, kNeeded, Ranks::kAny, Steps::kWholeRun,
     "the loader has one thread only, and it takes A for a batch"},
    {FaultKind::kEpochStall, "epoch_stall", Unit::kDuration, kNeeded, Ranks::kAny, Steps::kAny,
     "an epoch begins with A in which the loader is set up"},
    {FaultKind::kDataImbalance, "data_imbalance", Unit::kPercent, kNeeded, Ranks::kOne, Steps::kAny,
     "batches have A more samples, those of the other ranks as many less"},
    {FaultKind::kShapeChurn, "shape_churn", Unit::kPercent, 200, Ranks::kAll, Steps::kAny,
     "one batch of three, drawn at random, has up to A more samples, alike on all ranks"},
    {FaultKind::kSingleBucket, "single_bucket", Unit::kNone, 0, Ranks::kAll, Steps::kWholeRun,
     "all gradients are one bucket, which is full when backward ends"},
    {FaultKind::kTinyBuckets, "tiny_buckets", Unit::kBytes, kKibibyte, Ranks::kAll,
     Steps::kWholeRun, "gradient buckets hold A, so that each parameter has its own"},
    {FaultKind::kLateAllReduce, "late_allreduce", Unit::kNone, 0, Ranks::kAll, Steps::kAny,
     "gradients are all-reduced only after backward"},
    {FaultKind::kExtraCompute, "extra_compute", Unit::kDuration, kNeeded, Ranks::kAny, Steps::kAny,
     "forward multiplies matrices for A more"},
    {FaultKind::kHiccups, "hiccups", Unit::kDuration, kNeeded, Ranks::kAny, Steps::kAny,
     "in one step of ten, drawn at random, the host is away for A"},
    {FaultKind::kNeedlessBarrier, "needless_barrier", Unit::kCount, 1, Ranks::kAll, Steps::kAny,
     "A barriers end the step"},
    {FaultKind::kSyncEveryStep, "sync_every_step", Unit::kCount, 1, Ranks::kAny, Steps::kAny,
     "forward waits A times for the GPU; only on GPUs"},
    {FaultKind::kTinyOperators, "tiny_operators", Unit::kCount, 1000, Ranks::kAny, Steps::kAny,
     "forward runs A operators on a handful of numbers"},
    {FaultKind::kAllocationChurn, "allocation_churn", Unit::kBytes, 64 * kMebibyte, Ranks::kAny,
     Steps::kAny, "each step takes A of fresh memory from the system and gives it back"},
    {FaultKind::kMemoryLeak, "memory_leak", Unit::kBytes, kMebibyte, Ranks::kAny, Steps::kAny,
     "each step keeps A"},
    {FaultKind::kFragmentation, "fragmentation", Unit::kBytes, 64 * kMebibyte, Ranks::kAny,
     Steps::kWholeRun, "A of memory has been allocated in pieces, every other of which is in use"},
    {FaultKind::kCpuContention, "cpu_contention", Unit::kCount, 4, Ranks::kAny, Steps::kAny,
     "A threads spin"},
    {FaultKind::kCheckpointPause, "checkpoint_pause", Unit::kDuration, kNeeded, Ranks::kAny,
     Steps::kAny, "every tenth step writes a checkpoint to storage that takes A"},
    {FaultKind::kLogPause, "log_pause", Unit::kDuration, kNeeded, Ranks::kAny, Steps::kAny,
     "every fifth step writes a log for A"},
    {FaultKind::kSkipCollective, "skip_collective", Unit::kDuration, 60 * kSecondNs, Ranks::kOne,
     Steps::kOne, "leaves the step's all-reduces out and is gone A later: a hang"},
    {FaultKind::kMismatchedSize, "mismatched_size", Unit::kPercent, 50, Ranks::kOne, Steps::kOne,
     "all-reduces A of the elements that the others do: a desync"},
    {FaultKind::kPerParameterOptimizer, "per_parameter_optimizer", Unit::kNone, 0, Ranks::kAny,
     Steps::kWholeRun, "the optimizer updates parameter by parameter"},
    {FaultKind::kSkewedExperts, "skewed_experts", Unit::kPercent, kNeeded, Ranks::kOne, Steps::kAny,
     "experts get A more than their share"},
    {FaultKind::kPipelineImbalance, "pipeline_imbalance", Unit::kPercent, kNeeded, Ranks::kOne,
     Steps::kAny, "the stage has A more work than others"},
    {FaultKind::kRecompute, "recompute", Unit::kNone, 0, Ranks::kAll, Steps::kWholeRun,
     "forward runs again in backward, though memory is free"},
    {FaultKind::kFp32, "fp32", Unit::kNone, 0, Ranks::kAll, Steps::kWholeRun,
     "computes in 32 bits where bf16 would do"},
};

// Kinds of some workloads only stand at the end.
constexpr size_t kSharedKinds = std::size(kKinds) - 5;

const KindTraits& TraitsOf(FaultKind kind) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [kind](const KindTraits& traits) { return traits.kind == kind; });
}

[[noreturn]] void Fail(std::string_view what, std::string_view text) {
  throw std::invalid_argument(std::string(what) + ": '" + std::string(text) + "'");
}

// Reads a number that is all of |text|.
template <typename Number>
Number ParseNumber(std::string_view text, std::string_view what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) Fail(what, text);
  return value;
}

// A unit of measure and how much of the smallest one it is.
struct Scale {
  std::string_view name;
  double factor;
};

struct Measure {
  std::span<const Scale> scales;  // the first is the one that amounts are kept in
  std::string_view mistake;       // what is said of a text that is none
  std::string_view key;           // of the amount in the truth
  std::string_view placeholder;   // in the list of faults
};

const Measure& MeasureOf(Unit unit) {
  static constexpr Scale kDurations[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  static constexpr Scale kCounts[] = {{"", 1}};
  static constexpr Scale kSizes[] = {
      {"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};
  static constexpr Scale kPercents[] = {{"%", 1}};
  static constexpr Measure kMeasures[] = {
      {{}, "", "", ""},
      {kDurations, "not a duration such as 5ms, 200us or 2s", "amount_ns", "TIME"},
      {kCounts, "not a count such as 20", "amount_count", "COUNT"},
      {kSizes, "not a size such as 64KiB or 10MiB", "amount_bytes", "SIZE"},
      {kPercents, "not a share such as 50%", "amount_percent", "SHARE%"},
  };
  return kMeasures[static_cast<size_t>(unit)];
}

int64_t ParseAmount(std::string_view text, Unit unit) {
  constexpr double kMost = 1e18;
  const Measure& measure = MeasureOf(unit);
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789."));
  for (const Scale& scale : measure.scales) {
    if (text.substr(digits.size()) != scale.name) continue;
    const double value = ParseNumber<double>(digits, measure.mistake) * scale.factor;
    if (value > kMost) Fail("too large an amount", text);
    return static_cast<int64_t>(value);
  }
  Fail(measure.mistake, text);
}

// Cuts |text| at the first |separator|: returns what follows it and leaves what precedes it.
std::optional<std::string_view> CutAt(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + 1);
  text = text.substr(0, at);
  return rest;
}

std::vector<int> ParseRanks(std::string_view text) {
  std::vector<int> ranks;
  std::optional<std::string_view> rest = text;
  while (rest) {
    std::string_view first = *rest;
    rest = CutAt(first, ',');
    const std::optional<std::string_view> last = CutAt(first, '-');
    const int low = ParseNumber<int>(first, "not a list of ranks such as 0,2-3");
    const int high = last ? ParseNumber<int>(*last, "not a list of ranks such as 0,2-3") : low;
    if (high < low || high - low > 1'000'000) Fail("not a range of ranks", text);
    for (int rank = low; rank <= high; ++rank) ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void ParseSteps(std::string_view text, Fault& fault) {
  constexpr std::string_view kWhat = "not a step or range of steps such as 20, 10:30 or 10:";
  std::string_view first = text;
  const std::optional<std::string_view> last = CutAt(first, ':');
  if (!last) {
    fault.begin_step = ParseNumber<int64_t>(first, kWhat);
    fault.end_step = fault.begin_step + 1;
    return;
  }
  fault.begin_step = 0;
  fault.end_step = std::numeric_limits<int64_t>::max();
  if (!first.empty()) fault.begin_step = ParseNumber<int64_t>(first, kWhat);
  if (!last->empty()) fault.end_step = ParseNumber<int64_t>(*last, kWhat);
  if (fault.end_step <= fault.begin_step) Fail("empty range of steps", text);
}

bool ActsOn(const Fault& fault, int rank) {
  return fault.ranks.empty() || std::binary_search(fault.ranks.begin(), fault.ranks.end(), rank);
}

}  // namespace

std::string_view FaultName(FaultKind kind) { return TraitsOf(kind).name; }

std::span<const FaultKind> SharedFaults() {
  static const std::vector<FaultKind> kinds = [] {
    std::vector<FaultKind> all;
    for (const KindTraits& traits : std::span(kKinds).first(kSharedKinds)) {
      all.push_back(traits.kind);
    }
    return all;
  }();
  return kinds;
}

std::string FaultList(std::span<const FaultKind> kinds) {
  constexpr size_t kColumn = 42;
  std::string list;
  for (const FaultKind kind : kinds) {
    const KindTraits& traits = TraitsOf(kind);
    std::string form(traits.name);
    const std::string amount = ":" + std::string(MeasureOf(traits.unit).placeholder);
    if (traits.unit != Unit::kNone) {
      form += traits.default_amount == kNeeded ? amount : "[" + amount + "]";
    }
    if (traits.ranks != Ranks::kAll) form += "[@RANKS]";
    if (traits.steps != Steps::kWholeRun) form += "[#STEPS]";
    list += form + std::string(form.size() < kColumn ? kColumn - form.size() : 1, ' ') +
            std::string(traits.what) + "\n";
  }
  return list;
}

Fault ParseFault(std::string_view text) {
  std::string_view name = text;
  const std::optional<std::string_view> steps = CutAt(name, '#');
  const std::optional<std::string_view> ranks = CutAt(name, '@');
  const std::optional<std::string_view> amount = CutAt(name, ':');

  const auto* const traits =
      std::find_if(std::begin(kKinds), std::end(kKinds),
                   [name](const KindTraits& candidate) { return candidate.name == name; });
  if (traits == std::end(kKinds)) Fail("unknown kind of fault", text);
  if (amount && traits->unit == Unit::kNone) Fail("this fault takes no amount", text);
  if (!amount && traits->default_amount == kNeeded) Fail("this fault needs an amount", text);
  if (ranks && traits->ranks == Ranks::kAll) Fail("this fault is always on all ranks", text);
  if (steps && traits->steps == Steps::kWholeRun) Fail("this fault is always in all steps", text);

  Fault fault{.kind = traits->kind, .ranks = {}};
  // What all ranks do alike, such as leaving a collective out, is no fault.
  if (traits->ranks == Ranks::kOne) fault.ranks = {kOneRank};
  if (traits->steps == Steps::kOne) {
    fault.begin_step = kOneStep;
    fault.end_step = kOneStep + 1;
  }
  fault.amount = amount ? ParseAmount(*amount, traits->unit) : traits->default_amount;
  if (ranks) fault.ranks = ParseRanks(*ranks);
  if (steps) ParseSteps(*steps, fault);
  return fault;
}

std::string FaultTruth(const Fault& fault, int world_size, int64_t steps) {
  std::string ranks;
  for (int rank = 0; rank < world_size; ++rank) {
    if (!ActsOn(fault, rank)) continue;
    ranks += (ranks.empty() ? "" : ",") + std::to_string(rank);
  }
  const int64_t end_step = std::min(fault.end_step, steps);
  const int64_t begin_step = std::min(fault.begin_step, end_step);
  const std::string_view key = MeasureOf(TraitsOf(fault.kind).unit).key;
  const std::string amount =
      key.empty() ? "" : ",\"" + std::string(key) + "\":" + std::to_string(fault.amount);
  return "{\"kind\":\"" + std::string(FaultName(fault.kind)) + "\"" + amount + ",\"ranks\":[" +
         ranks + "],\"steps\":[" + std::to_string(begin_step) + "," + std::to_string(end_step) +
         "]}";
}

std::optional<int64_t> FaultPlan::Amount(FaultKind kind, int64_t step) const {
  std::optional<int64_t> total;
  for (const Fault& fault : faults_) {
    if (fault.kind != kind || step < fault.begin_step || step >= fault.end_step) continue;
    if (ActsOn(fault, rank_)) total = total.value_or(0) + fault.amount;
  }
  return total;
}

}  // namespace tutti::workloads
