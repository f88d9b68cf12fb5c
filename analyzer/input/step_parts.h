// The parts of a step in order of precedence: their names everywhere (JSON, SQL,
// reports) and where their values are.
#pragma once

#include <array>
#include <string_view>

#include "schema/derived_rows.h"

namespace tutti::analyzer {

struct StepPart {
  std::string_view name;   // in tables and JSON
  std::string_view label;  // for people
  int64_t schema::StepBreakdownRow::*value;
};

inline constexpr std::array kStepParts = {
    StepPart{"compute", "compute", &schema::StepBreakdownRow::compute_ns},
    StepPart{"exposed_comm_transfer", "communication: transfer",
             &schema::StepBreakdownRow::exposed_comm_transfer_ns},
    StepPart{"exposed_comm_wait", "communication: wait for ranks",
             &schema::StepBreakdownRow::exposed_comm_wait_ns},
    StepPart{"exposed_comm_unsplit", "communication: not split",
             &schema::StepBreakdownRow::exposed_comm_unsplit_ns},
    StepPart{"exposed_copy", "copies", &schema::StepBreakdownRow::exposed_copy_ns},
    StepPart{"input_wait", "input wait", &schema::StepBreakdownRow::input_wait_ns},
    StepPart{"sync", "synchronisation", &schema::StepBreakdownRow::sync_ns},
    StepPart{"host_bound", "host-bound", &schema::StepBreakdownRow::host_bound_ns},
    StepPart{"idle", "idle, unexplained", &schema::StepBreakdownRow::idle_ns},
};

}  // namespace tutti::analyzer
