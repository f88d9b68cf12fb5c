// Names of collectives as they are recorded: c10d's own without prefix and without the
// distinction of how buffers are laid out.
#pragma once

#include <cstdint>

namespace tutti::tracer::torch {

// Name of a c10d::OpType ("all_reduce", "send", …), nullptr for one that is not known here.
const char* OpName(uint8_t op_type) noexcept;

// What a rank contributes is counted as nccl-tests do: count argument × type size. For these
// kinds that is the n-th part of what is passed in, n being the size of the group.
bool CountsPerPeer(uint8_t op_type) noexcept;

// Whether one rank is the root of all the others, or it is between two ranks.
bool IsRooted(uint8_t op_type) noexcept;
bool IsPointToPoint(uint8_t op_type) noexcept;

// Values of c10d::OpType that are needed by name.
inline constexpr uint8_t kOpTypeScatter = 8;
inline constexpr uint8_t kOpTypeReduceScatter = 9;
inline constexpr uint8_t kOpTypeSend = 12;
inline constexpr uint8_t kOpTypeReceive = 13;
inline constexpr uint8_t kOpTypeUnknown = 255;

}  // namespace tutti::tracer::torch
