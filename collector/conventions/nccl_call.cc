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

}  // namespace

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
