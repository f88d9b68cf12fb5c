// The parts of a step in order of precedence: their names everywhere (JSON, SQL,
// reports) and where their values are.
#pragma once

#include <array>
#include <string_view>

#include "schema/derived_rows.h"
#include "schema/step_parts.h"

namespace tutti::analyzer {

struct StepPart {
  std::string_view name;   // in tables and JSON
  std::string_view label;  // for people
  int64_t schema::StepBreakdownRow::*value;
};

inline constexpr std::array kStepParts = {
    StepPart{schema::kStepParts[0], "compute", &schema::StepBreakdownRow::compute_ns},
    StepPart{schema::kStepParts[1], "communication: transfer",
             &schema::StepBreakdownRow::exposed_comm_transfer_ns},
    StepPart{schema::kStepParts[2], "communication: wait for ranks",
             &schema::StepBreakdownRow::exposed_comm_wait_ns},
    StepPart{schema::kStepParts[3], "communication: not split",
             &schema::StepBreakdownRow::exposed_comm_unsplit_ns},
    StepPart{schema::kStepParts[4], "copies", &schema::StepBreakdownRow::exposed_copy_ns},
    StepPart{schema::kStepParts[5], "input wait", &schema::StepBreakdownRow::input_wait_ns},
    StepPart{schema::kStepParts[6], "synchronisation", &schema::StepBreakdownRow::sync_ns},
    StepPart{schema::kStepParts[7], "host-bound", &schema::StepBreakdownRow::host_bound_ns},
    StepPart{schema::kStepParts[8], "idle, unexplained", &schema::StepBreakdownRow::idle_ns},
};

}  // namespace tutti::analyzer
