#include "workloads/common/data_parallel.h"

#include <torch/torch.h>

#include <algorithm>
#include <span>
#include <torch/csrc/distributed/c10d/comm.hpp>

namespace tutti::workloads {
namespace {

// DistributedDataParallel's buffer size for the first broadcast.
constexpr size_t kBroadcastBytes = size_t{250} << 20;

// DistributedDataParallel's assignment: buckets in reverse order because backward ends with the
// first parameters.
std::vector<std::vector<size_t>> AssignBuckets(const std::vector<at::Tensor>& parameters,
                                               DataParallel::BucketCaps caps) {
  auto [indices, limits] = c10d::compute_bucket_assignment_by_size(
      parameters, {static_cast<size_t>(caps.first_bytes), static_cast<size_t>(caps.bytes)});
  std::reverse(indices.begin(), indices.end());
  return indices;
}

// As torch's FP16CompressCommHook, for both half types: casts a bucket, all-reduces it and casts
// the mean back.
struct Compression {
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  at::ScalarType type;
};

class CompressHook : public c10d::CppCommHookInterface<Compression> {
 public:
  using State = Compression;
  explicit CompressHook(const State& state) : CppCommHookInterface(state) {}

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    at::Tensor full = bucket.getBuffer();
    std::vector<at::Tensor> small = {full.to(state_.type).div_(state_.group->getSize())};
    const auto work = state_.group->allreduce(small);
    return work->getFuture()->then(
        [full, small](c10::ivalue::Future& done) {
          if (done.hasError()) std::rethrow_exception(done.exception_ptr());
          full.copy_(small[0]);
          return c10::IValue(full);
        },
        c10::TensorType::get());
  }
};

}  // namespace

DataParallel::BucketCaps DataParallel::CapsOf(int64_t bucket_bytes) {
  return {std::min<int64_t>(bucket_bytes, c10d::kDefaultFirstBucketBytes), bucket_bytes};
}

DataParallel::DataParallel(std::vector<at::Tensor> parameters,
                           c10::intrusive_ptr<c10d::ProcessGroup> group, BucketCaps caps,
                           at::ScalarType type)
    : parameters_(std::move(parameters)),
      group_(std::move(group)),
      bucket_indices_(AssignBuckets(parameters_, caps)) {
  {
    const torch::NoGradGuard no_grad;
    c10d::broadcast_coalesced(group_, parameters_, kBroadcastBytes);
  }
  reducer_ = std::make_unique<c10d::Reducer>(
      parameters_, bucket_indices_, group_, std::vector<bool>(parameters_.size(), false),
      caps.bytes, /*find_unused_parameters=*/false,
      // With views, zero_grad() would throw: it detaches gradients.
      /*gradient_as_bucket_view=*/false, std::unordered_map<size_t, std::string>{},
      caps.first_bytes,
      /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
      std::vector<int64_t>{});
  if (type != at::kFloat) {
    reducer_->register_comm_hook(std::make_unique<CompressHook>(CompressHook::State{group_, type}));
  }
}

void DataParallel::BeforeForward() {
  reducer_->prepare_for_forward();
  reducer_->rebuild_buckets();
}

void DataParallel::BeforeBackward(const at::Tensor& loss) {
  reducer_->prepare_for_backward({loss});
}

void DataParallel::AllReduceNow() {
  const torch::NoGradGuard no_grad;
  struct Pending {
    std::vector<at::Tensor> flat;  // one tensor; allreduce takes a list
    c10::intrusive_ptr<c10d::Work> work;
  };
  std::vector<Pending> pending;
  for (const std::vector<size_t>& bucket : bucket_indices_) {
    std::vector<at::Tensor> gradients;
    for (const size_t index : bucket) gradients.push_back(parameters_[index].grad().flatten());
    Pending& item = pending.emplace_back();
    item.flat = {at::cat(gradients).div_(group_->getSize())};
    item.work = group_->allreduce(item.flat);
  }
  for (size_t i = 0; i < pending.size(); ++i) {
    pending[i].work->wait();
    int64_t offset = 0;
    for (const size_t index : bucket_indices_[i]) {
      at::Tensor gradient = parameters_[index].grad();
      gradient.copy_(pending[i].flat[0].narrow(0, offset, gradient.numel()).view_as(gradient));
      offset += gradient.numel();
    }
  }
}

void DataParallel::AllReduceShare(int64_t percent) {
  const torch::NoGradGuard no_grad;
  const at::Tensor bucket = reducer_->get_grad_buckets().front().getBufferRef();
  const int64_t elements = std::max<int64_t>(1, bucket.numel() * percent / 100);
  std::vector<at::Tensor> part = {at::zeros({elements}, bucket.options())};
  group_->allreduce(part)->wait();
}

size_t DataParallel::buckets() const { return reducer_->get_grad_buckets().size(); }

uint64_t Checksum(const std::vector<at::Tensor>& parameters) {
  constexpr uint64_t kFnvOffset = 0xcbf29ce484222325;
  constexpr uint64_t kFnvPrime = 0x100000001b3;
  uint64_t hash = kFnvOffset;
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor host = parameter.detach().cpu().contiguous();
    const auto* const bytes = static_cast<const uint8_t*>(host.data_ptr());
    for (const uint8_t byte : std::span(bytes, host.nbytes())) hash = (hash ^ byte) * kFnvPrime;
  }
  return hash;
}

std::vector<int64_t> AllGather(c10d::ProcessGroup& group, int64_t value, at::Device device) {
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  std::vector<at::Tensor> input = {at::full({1}, value, options)};
  std::vector<std::vector<at::Tensor>> output(1);
  for (int rank = 0; rank < group.getSize(); ++rank) {
    output[0].push_back(at::zeros({1}, options));
  }
  group.allgather(output, input)->wait();
  std::vector<int64_t> values;
  for (const at::Tensor& gathered : output[0]) values.push_back(gathered.item<int64_t>());
  return values;
}

}  // namespace tutti::workloads
