// What NCCL's own NVTX ranges are called, in the words of `collective_source.op_id`.
// Source of the names: NCCL's src/collectives.cc, init.cc and group.cc (NVTX3_FUNC_*).
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::collector::conventions {

// "ncclAllReduce" -> "all_reduce"; empty for a name that moves no data (ncclGroupStart,
// ncclCommInitRank, …) or is not NCCL's.
std::string_view CollectiveOpOfNcclCall(std::string_view name);

// A type of NCCL's by its name ("ncclFloat32"), as torch calls it; empty and 0 for others.
struct NcclDatatype {
  std::string_view dtype;
  int64_t bytes = 0;
};
NcclDatatype DatatypeOfNccl(std::string_view name);

// True for a name as NCCL gives its calls: "nccl" and a capital letter.
bool IsNcclCall(std::string_view name);

// True for a kernel of NCCL ("ncclDevKernel_…", "ncclKernel_…").
bool IsNcclKernel(std::string_view name);

}  // namespace tutti::collector::conventions
