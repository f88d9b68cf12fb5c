// Collectives -> collective_source: from the calls into c10d ("record_param_comms"), from
// the arguments that Kineto copies onto kernels, from Gloo's ranges and from HCCL's lane.
// One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/importers/kineto/context.h"
#include "collector/importers/kineto/groups.h"

namespace tutti::collector::importers::kineto {

// A name that c10d, Gloo or HCCL gives an operation, in the words of
// collective_source.op_id ("_allgather_base" -> "all_gather"); empty for what moves no data.
std::string_view CollectiveOp(std::string_view name);

// c10::ScalarType as PyTorch prints it ("BFloat16", "c10::BFloat16", "float") in the words
// of collective_source.dtype_id, and its bytes; empty: not known.
struct Dtype {
  std::string_view name;
  int64_t bytes = 0;
};
Dtype DtypeOf(std::string_view printed);

class CollectiveRows {
 public:
  explicit CollectiveRows(Context& context) : context_(context), groups_(context) {}

  Groups& groups() { return groups_; }

  // A cpu_op or range with the arguments of a collective.
  void OnHostCall(const RawEvent& event);
  // A kernel with them.
  void OnKernel(const RawEvent& event, const schema::KernelRow& kernel);
  // A range of Gloo: "gloo:all_reduce", on the thread that ran it.
  void OnGlooRange(const RawEvent& event);
  // An operation on HCCL's own lane: "Default/AllReduce-op534_0".
  void OnHcclRange(const RawEvent& event);

  void Finish(std::optional<int64_t> rank);
  // Whether calls and kernels are there that may belong together.
  bool HasBoth() const { return host_calls_ != 0 && kernels_ != 0; }

 private:
  schema::CollectiveSourceRow RowOf(const RawEvent& event, std::string_view op);

  Context& context_;
  Groups groups_;
  int64_t host_calls_ = 0;
  int64_t kernels_ = 0;
};

}  // namespace tutti::collector::importers::kineto
