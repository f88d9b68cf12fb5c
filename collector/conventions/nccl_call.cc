#include "collector/conventions/nccl_call.h"

#include <utility>

namespace tutti::collector::conventions {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOps[] = {
    {"ncclAllGather", "all_gather"}, {"ncclAllReduce", "all_reduce"},
    {"ncclAlltoAll", "all_to_all"},  {"ncclAllToAll", "all_to_all"},
    {"ncclBroadcast", "broadcast"},  {"ncclBcast", "broadcast"},
    {"ncclGather", "gather"},        {"ncclRecv", "recv"},
    {"ncclReduce", "reduce"},        {"ncclReduceScatter", "reduce_scatter"},
    {"ncclScatter", "scatter"},      {"ncclSend", "send"},
};

struct Datatype {
  std::string_view name;
  NcclDatatype type;
};
constexpr Datatype kDatatypes[] = {
    {"ncclInt8", {"int8", 1}},
    {"ncclUint8", {"uint8", 1}},
    {"ncclInt32", {"int32", 4}},
    {"ncclUint32", {"uint32", 4}},
    {"ncclInt64", {"int64", 8}},
    {"ncclUint64", {"uint64", 8}},
    {"ncclFloat16", {"float16", 2}},
    {"ncclFloat32", {"float32", 4}},
    {"ncclFloat64", {"float64", 8}},
    {"ncclBfloat16", {"bfloat16", 2}},
    {"ncclFloat8e4m3", {"float8_e4m3fn", 1}},
    {"ncclFloat8e5m2", {"float8_e5m2", 1}},
};

}  // namespace

NcclDatatype DatatypeOfNccl(std::string_view name) {
  for (const Datatype& known : kDatatypes) {
    if (known.name == name) return known.type;
  }
  return {};
}

std::string_view CollectiveOpOfNcclCall(std::string_view name) {
  for (const auto& [call, op] : kOps) {
    if (call == name) return op;
  }
  return {};
}

bool IsNcclCall(std::string_view name) {
  constexpr std::string_view kPrefix = "nccl";
  return name.size() > kPrefix.size() && name.starts_with(kPrefix) && name[kPrefix.size()] >= 'A' &&
         name[kPrefix.size()] <= 'Z';
}

bool IsNcclKernel(std::string_view name) {
  return name.starts_with("ncclDevKernel") || name.starts_with("ncclKernel");
}

}  // namespace tutti::collector::conventions
