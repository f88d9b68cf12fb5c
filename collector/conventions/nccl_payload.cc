#include "collector/conventions/nccl_payload.h"

#include <nlohmann/json.hpp>

namespace tutti::collector::conventions {
namespace {

std::optional<uint64_t> Unsigned(const nlohmann::ordered_json& payload, const char* name) {
  const auto field = payload.find(name);
  if (field == payload.end() || !field->is_number_integer()) return std::nullopt;
  if (!field->is_number_unsigned() && field->get<int64_t>() < 0) return std::nullopt;
  return field->get<uint64_t>();
}

std::optional<int64_t> Number(const nlohmann::ordered_json& payload, const char* name) {
  const auto value = Unsigned(payload, name);
  if (!value || *value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(*value);
}

}  // namespace

NcclPayload ParseNcclPayload(std::string_view json) {
  return NcclPayloadOf(nlohmann::ordered_json::parse(json, nullptr, /*allow_exceptions=*/false));
}

NcclPayload NcclPayloadOf(const nlohmann::ordered_json& json) {
  if (!json.is_object()) return {};
  std::optional<int64_t> bytes = Number(json, "Message size [bytes]");
  if (!bytes) bytes = Number(json, "Bytes");  // of ncclSend and ncclRecv before they told a group
  return {Unsigned(json, "NCCL communicator ID"),
          bytes,
          Number(json, "Peer rank"),
          Number(json, "Root"),
          Number(json, "No. of ranks"),
          Number(json, "Rank")};
}

}  // namespace tutti::collector::conventions
