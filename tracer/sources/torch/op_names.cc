#include "tracer/sources/torch/op_names.h"

namespace tutti::tracer::torch {
namespace {

// c10d::OpType (torch/csrc/distributed/c10d/Work.hpp), in the order of its values.
struct Op {
  const char* name;
  bool is_rooted;
  bool counts_per_peer;
};

// By value of c10d::OpType (torch/csrc/distributed/c10d/Work.hpp).
constexpr Op kOps[] = {
    {"broadcast", true, false},       // BROADCAST
    {"all_reduce", false, false},     // ALLREDUCE
    {"all_reduce", false, false},     // ALLREDUCE_COALESCED
    {"reduce", true, false},          // REDUCE
    {"all_gather", false, false},     // ALLGATHER
    {"all_gather", false, false},     // _ALLGATHER_BASE
    {"all_gather", false, false},     // ALLGATHER_COALESCED
    {"gather", true, false},          // GATHER
    {"scatter", true, true},          // SCATTER
    {"reduce_scatter", false, true},  // REDUCE_SCATTER
    {"all_to_all", false, true},      // ALLTOALL_BASE
    {"all_to_all", false, true},      // ALLTOALL
    {"send", false, false},           // SEND
    {"recv", false, false},           // RECV
    {"recv", false, false},           // RECVANYSOURCE
    {"barrier", false, false},        // BARRIER
    {"reduce_scatter", false, true},  // _REDUCE_SCATTER_BASE
    {"coalesced", false, false},      // COALESCED
    {"all_reduce", false, false},     // _ALLREDUCE_SPARSE
    {"reduce_scatter", false, true},  // REDUCE_SCATTER_TENSOR_COALESCED, 2.15
    {"all_gather", false, false},     // ALLGATHER_INTO_TENSOR_COALESCED, 2.15
};
constexpr uint8_t kOpTypeReceiveAnySource = 14;

const Op* FindOp(uint8_t op_type) noexcept {
  return op_type < sizeof(kOps) / sizeof(kOps[0]) ? &kOps[op_type] : nullptr;
}

}  // namespace

const char* OpName(uint8_t op_type) noexcept {
  const Op* op = FindOp(op_type);
  return op == nullptr ? nullptr : op->name;
}

bool CountsPerPeer(uint8_t op_type) noexcept {
  const Op* op = FindOp(op_type);
  return op != nullptr && op->counts_per_peer;
}

bool IsRooted(uint8_t op_type) noexcept {
  const Op* op = FindOp(op_type);
  return op != nullptr && op->is_rooted;
}

bool IsPointToPoint(uint8_t op_type) noexcept {
  return op_type == kOpTypeSend || op_type == kOpTypeReceive || op_type == kOpTypeReceiveAnySource;
}

}  // namespace tutti::tracer::torch
