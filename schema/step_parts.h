// The exclusive parts of a step in order of precedence: each a column `<part>_ns` of
// step_breakdown, and named so in JSON, SQL and exports.
#pragma once

#include <array>
#include <string_view>

namespace tutti::schema {

inline constexpr std::array<std::string_view, 9> kStepParts = {"compute",
                                                               "exposed_comm_transfer",
                                                               "exposed_comm_wait",
                                                               "exposed_comm_unsplit",
                                                               "exposed_copy",
                                                               "input_wait",
                                                               "sync",
                                                               "host_bound",
                                                               "idle"};

}  // namespace tutti::schema
