// Operators, kernels and collectives by name: which take longer, which are new, gone, or
// probably renamed.
// Pure functions; callable from any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/compare/estimate.h"
#include "analyzer/compare/launch.h"

namespace tutti::analyzer::compare {

enum class Presence {
  kBoth,
  kNew,       // in every new launch, in no base launch
  kVanished,  // the other way round
  kRenamed,   // gone, while another one like it is new
};

struct NamedChange {
  std::string kind;      // 'kernel', 'operator', 'backward', 'memcpy', 'memset', 'collective'
  std::string name;      // in the new runs, of vanished ones in the base runs
  std::string old_name;  // of renamed ones: in the base runs
  Presence presence = Presence::kBoth;
  NamedTime base;  // means over launches
  NamedTime now;   // the same
  // Of the time a step, as shares of the base step; nothing for one against one.
  std::optional<Estimate> estimate;
  double q = 1;         // false discovery rate over all names; 1 where nothing was tested
  bool listed = false;  // the difference is beyond chance and large enough to be told

  double change_ns() const { return now.ns_per_step - base.ns_per_step; }
};

struct NamedRule {
  double false_discovery_rate = 0.05;
  double min_share = 0.001;           // of the base step: tested differences below it are not told
  double min_untested_share = 0.005;  // the same where nothing can be tested
};

// All names, those that change the step most first. `paired`: launches are pairs by index.
std::vector<NamedChange> CompareNames(std::span<const Launch> base, std::span<const Launch> fresh,
                                      bool paired, double base_step_ns, const NamedRule& rule = {});

}  // namespace tutti::analyzer::compare
