// A comparison of two groups of launches: every figure that its outputs print.
// Pure; callable from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/compare/estimate.h"
#include "analyzer/compare/explanation.h"
#include "analyzer/compare/launch.h"
#include "analyzer/compare/metric.h"
#include "analyzer/compare/named_change.h"
#include "analyzer/compare/verdict.h"
#include "common/status.h"

namespace tutti::analyzer::compare {

enum class Pairing {
  kAuto,    // paired where launches ran in neighbouring pairs of base and new
  kPaired,  // the k-th base launch with the k-th new one
  kUnpaired,
};

struct CompareOptions {
  Rule rule;
  std::vector<std::string> gates;             // names of metrics; empty: step_time, exposed_comm
  std::map<std::string, double> min_effects;  // of gates for which it is not that of the rule
  Pairing pairing = Pairing::kAuto;
  bool within_launch = false;  // one launch against one may be gated on
  bool force = false;          // compare what isn't comparable
  uint64_t seed = 20'260'101;  // of the bootstrap
};

struct MetricResult {
  const Metric* metric = nullptr;
  bool is_gate = false;
  std::optional<double> base;  // mean over launches (of kRatio: geometric); nothing: not available
  std::optional<double> now;   // the same
  // On the metric's scale; nothing where it can't be tested: too few launches, no values.
  std::optional<Estimate> estimate;
  AdjustedP adjusted;  // gates: Holm over gates; others: Benjamini-Hochberg, two-sided
  std::optional<double> detectable;           // minimum detectable effect, gates only
  std::optional<size_t> launches_for_effect;  // pairs or launches a side, gates only
  std::optional<Verdict> verdict;             // gates: always; others: nothing without an estimate
  std::string remark;                         // why there is no estimate, or what limits it

  // Effects on the scale as people read them: shares of the base value (or of the step).
  double AsShare(double on_scale) const;
};

struct Comparison {
  std::vector<Launch> base;   // in the order of pairs
  std::vector<Launch> fresh;  // the same
  CompareOptions options;
  Design design = Design::kPaired;
  size_t warmup = 0;                  // leading steps of every launch that are left out
  double base_step_ns = 0;            // mean level of the base: what shares of a step are of
  bool is_identical = false;          // both sides hold the very same steps
  std::vector<MetricResult> metrics;  // gates first
  std::optional<Estimate> control;    // of the logarithm of the control's time
  bool control_moved = false;
  std::optional<double> base_overlap;  // mean over launches
  std::optional<double> new_overlap;
  std::optional<Explanation> explanation;
  std::vector<NamedChange> names;
  std::vector<std::string> forced;  // differences that --force let pass
  std::vector<std::string> notes;   // what limits the trust in this
  // Of launches that had no part in the verdict but to confirm a regression (confirmation.h).
  std::shared_ptr<const Comparison> confirmation;
  Verdict verdict = Verdict::kInconclusive;

  bool gates() const { return design != Design::kWithinLaunch || options.within_launch; }
  size_t GateCount() const;  // that were tested
};

// The launches' values on the metric's scale, on which effects are tested; empty if one of them has
// none. Warm-up and base step are those of the comparison.
std::vector<double> ScaledValues(const Metric& metric, const std::vector<Launch>& arm,
                                 const Comparison& comparison);

// The rule on that scale.
Rule ScaledRule(const Metric& metric, const Comparison& comparison);

// That of the gates' verdicts and the control.
Verdict OverallVerdict(const Comparison& comparison);

// kUsage: runs that can't be compared (one line for each reason), a run given twice, an
// unknown gate. kBadData: a run without a step whose period is known.
Result<Comparison> Compare(std::vector<Launch> base, std::vector<Launch> fresh,
                           const CompareOptions& options);

}  // namespace tutti::analyzer::compare
