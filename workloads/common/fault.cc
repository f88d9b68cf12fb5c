#include "workloads/common/fault.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>

namespace tutti::workloads {
namespace {

struct KindTraits {
  FaultKind kind;
  std::string_view name;
  bool has_amount;
  int64_t default_amount_ns;  // -1: must be given
  bool takes_ranks;           // false: only makes sense on all ranks at once
};

// Where skip_collective acts if nothing else is said.
constexpr int kSkippingRank = 1;
constexpr int64_t kSkippedStep = 10;

constexpr int64_t kSecondNs = 1'000'000'000;

constexpr std::array<KindTraits, 4> kKinds = {{
    {FaultKind::kSlowLoader, "slow_loader", true, -1, true},
    {FaultKind::kExtraCompute, "extra_compute", true, -1, true},
    {FaultKind::kLateAllReduce, "late_allreduce", false, 0, false},
    {FaultKind::kSkipCollective, "skip_collective", true, 60 * kSecondNs, true},
}};

const KindTraits& TraitsOf(FaultKind kind) {
  return *std::find_if(kKinds.begin(), kKinds.end(),
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

int64_t ParseDurationNs(std::string_view text) {
  constexpr std::string_view kWhat = "not a duration such as 5ms, 200us or 2s";
  const size_t unit_at = text.find_first_not_of("0123456789.");
  if (unit_at == std::string_view::npos) Fail(kWhat, text);
  const std::string_view unit = text.substr(unit_at);
  const double scale = unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : 1e9;
  if (scale == 1e9 && unit != "s") Fail(kWhat, text);
  const double value = ParseNumber<double>(text.substr(0, unit_at), kWhat) * scale;
  if (value > 1e18) Fail("too long a duration", text);
  return static_cast<int64_t>(value);
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

Fault ParseFault(std::string_view text) {
  std::string_view name = text;
  const std::optional<std::string_view> steps = CutAt(name, '#');
  const std::optional<std::string_view> ranks = CutAt(name, '@');
  const std::optional<std::string_view> amount = CutAt(name, ':');

  const auto* const traits =
      std::find_if(kKinds.begin(), kKinds.end(),
                   [name](const KindTraits& candidate) { return candidate.name == name; });
  if (traits == kKinds.end()) Fail("unknown kind of fault", text);
  if (amount && !traits->has_amount) Fail("this fault takes no amount", text);
  if (!amount && traits->default_amount_ns < 0) Fail("this fault needs an amount", text);
  if (ranks && !traits->takes_ranks) Fail("this fault is always on all ranks", text);

  Fault fault{.kind = traits->kind, .ranks = {}};
  if (fault.kind == FaultKind::kSkipCollective) {
    // A hang of one rank: a collective that all ranks leave out hangs nobody.
    fault.ranks = {kSkippingRank};
    fault.begin_step = kSkippedStep;
    fault.end_step = kSkippedStep + 1;
  }
  fault.amount_ns = amount ? ParseDurationNs(*amount) : traits->default_amount_ns;
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
  return "{\"kind\":\"" + std::string(FaultName(fault.kind)) +
         "\",\"amount_ns\":" + std::to_string(fault.amount_ns) + ",\"ranks\":[" + ranks +
         "],\"steps\":[" + std::to_string(begin_step) + "," + std::to_string(end_step) + "]}";
}

std::optional<int64_t> FaultPlan::AmountNs(FaultKind kind, int64_t step) const {
  std::optional<int64_t> total_ns;
  for (const Fault& fault : faults_) {
    if (fault.kind != kind || step < fault.begin_step || step >= fault.end_step) continue;
    if (ActsOn(fault, rank_)) total_ns = total_ns.value_or(0) + fault.amount_ns;
  }
  return total_ns;
}

}  // namespace tutti::workloads
