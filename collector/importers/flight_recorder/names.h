// Words of torch's flight recorder in those of `collective_source`.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::collector::importers::flight_recorder {

// "nccl:send 0->3": backend, operation, and for point-to-point the other rank of the group.
// Source: the profiling titles in torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp,
// ProcessGroupGloo.cpp and ProcessGroupXCCL.cpp.
struct OpName {
  std::string backend;          // "nccl", "" untold
  std::string op;               // "all_reduce", …; as it is written where it is not known
  std::optional<int64_t> self;  // point-to-point: own rank in the group
  std::optional<int64_t> peer;  // the same: the other one
  bool is_batch = false;        // stands for the calls of a batch, which have entries too
};
OpName ParseOpName(std::string_view profiling_name);

// c10::toString(ScalarType): "BFloat16" -> {"bfloat16", 2}. Unknown names: as they are, 0.
struct Dtype {
  std::string name;
  int64_t bytes = 0;  // of an element, 0 unknown
};
Dtype ParseDtype(std::string_view scalar_type);

// The rank in a dump's file name: "nccl_trace_rank_12", "_dump_3", "rank-7.json",
// "trace_rank2_0.pickle": what RankFromFileName finds, else the last number before the extension,
// as torch names dumps by a prefix and the rank. Nothing if there is none.
std::optional<int64_t> RankInFileName(std::string_view path);

}  // namespace tutti::collector::importers::flight_recorder
