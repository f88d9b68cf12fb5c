// The steps of two runs side by side: both begin each step at the same place of one axis, at their
// own length; where one of them is over earlier it stands still until the other is.
//
//   run A   [step 0 )[step 1      )[step 2 )
//   run B   [step 0   )[step 1 )[step 2 )
//   axis A  [step 0 )..[step 1      )[step 2 )
//   axis B  [step 0   )[step 1 ).....[step 2 )
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schema/derived_rows.h"
#include "viewer/model/time_map.h"

namespace tutti::viewer {

struct AlignedStep {
  std::optional<size_t> a;  // place among the run's steps, nullopt: it has none to match
  std::optional<size_t> b;
  int64_t begin_ns = 0;  // on the axis
};

struct Alignment {
  std::vector<AlignedStep> steps;
  TimeMap times_a;
  TimeMap times_b;
};

// Steps that the programs number alike are matched, in order; if they have none in common, the
// first with the first and so on. The axis begins with run A at `begin_a_ns`. Without steps both
// runs begin together.
Alignment AlignSteps(std::span<const schema::RunStepRow> a, int64_t begin_a_ns,
                     std::span<const schema::RunStepRow> b, int64_t begin_b_ns);

}  // namespace tutti::viewer
