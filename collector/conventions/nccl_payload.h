// What NCCL's own NVTX ranges tell in their payloads. Names of the fields: NCCL's
// src/include/nvtx_payload_schemas.h. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace tutti::collector::conventions {

// Absent: the payload does not have it.
struct NcclPayload {
  std::optional<uint64_t> communicator = {};  // the same number on all ranks
  std::optional<int64_t> bytes = {};
  std::optional<int64_t> peer = {};
  std::optional<int64_t> root = {};
  std::optional<int64_t> ranks = {};  // size and own place of a communicator that is made
  std::optional<int64_t> rank = {};
};

// |json|: an object; everything is absent if it is none.
NcclPayload ParseNcclPayload(std::string_view json);
NcclPayload NcclPayloadOf(const nlohmann::ordered_json& json);

}  // namespace tutti::collector::conventions
