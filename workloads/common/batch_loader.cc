#include "workloads/common/batch_loader.h"

#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tracer/annotate.h"
#include "workloads/common/draw.h"

namespace tutti::workloads {
namespace {

using Example = torch::data::Example<>;
using RandomSampler = torch::data::samplers::DistributedRandomSampler;

// The fault slow_loader: a disk that serves one batch at a time, in the order of requests. That
// is the order of steps too, as batches are fetched in the order in which they are trained on.
class SlowDisk {
 public:
  explicit SlowDisk(FaultPlan plan) : plan_(std::move(plan)) {}

  // Any thread: waits until the disk has served one batch more.
  void Read() {
    const Clock::time_point ready = Enqueue();
    if (ready > Clock::now()) std::this_thread::sleep_until(ready);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Returns when the batch that is asked for now will have been read.
  Clock::time_point Enqueue() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto delay_ns = plan_.Amount(FaultKind::kSlowLoader, step_++);
    if (!delay_ns) return {};
    idle_from_ = std::max(idle_from_, Clock::now()) + std::chrono::nanoseconds(*delay_ns);
    return idle_from_;
  }

  const FaultPlan plan_;
  std::mutex mutex_;
  int64_t step_ = 0;             // that the next batch is for
  Clock::time_point idle_from_;  // end of the last batch's service
};

// What the loader's threads and the training thread share.
struct Shared {
  explicit Shared(const FaultPlan& plan)
      : decode_ns(plan.Amount(FaultKind::kFewWorkers).value_or(0)), disk(plan) {}
  const std::chrono::nanoseconds decode_ns;  // the fault few_workers: what a thread takes a batch
  std::atomic<int64_t> batch{0};             // samples of the next; 0: as at first
  std::atomic<int64_t> finished{0};          // batches that are ready or taken
  SlowDisk disk;
};

class Dataset : public torch::data::datasets::BatchDataset<Dataset, Example> {
 public:
  Dataset(TensorData data, std::shared_ptr<Shared> shared)
      : data_(std::move(data)), shared_(std::move(shared)) {}

  Example get_batch(at::ArrayRef<size_t> indices) override {
    shared_->disk.Read();
    if (shared_->decode_ns.count() > 0) std::this_thread::sleep_for(shared_->decode_ns);
    const std::vector<int64_t> rows(indices.begin(), indices.end());
    Batch batch = Take(data_, torch::tensor(rows, torch::kLong));
    shared_->finished.fetch_add(1);
    return {std::move(batch.input), std::move(batch.target)};
  }

  std::optional<size_t> size() const override { return static_cast<size_t>(data_.inputs.size(0)); }

 private:
  TensorData data_;
  std::shared_ptr<Shared> shared_;
};

// DataLoader keeps its sampler to itself; this one stays within reach, for set_epoch. The faults
// data_imbalance and shape_churn change the number of samples that it draws for a batch.
class SharedSampler : public torch::data::samplers::Sampler<> {
 public:
  SharedSampler(std::shared_ptr<RandomSampler> sampler, std::shared_ptr<Shared> shared,
                FaultPlan plan, int world_size)
      : sampler_(std::move(sampler)),
        shared_(std::move(shared)),
        plan_(std::move(plan)),
        world_size_(world_size) {}
  void reset(std::optional<size_t> size = std::nullopt) override { sampler_->reset(size); }
  std::optional<std::vector<size_t>> next(size_t count) override {
    const int64_t chosen = shared_->batch.load();
    if (chosen > 0) count = static_cast<size_t>(chosen);
    auto indices = sampler_->next(CountIn(step_, count));
    if (indices) ++step_;
    return indices;
  }
  void save(torch::serialize::OutputArchive& archive) const override { sampler_->save(archive); }
  void load(torch::serialize::InputArchive& archive) override { sampler_->load(archive); }

 private:
  size_t CountIn(int64_t step, size_t count) const {
    int64_t percent = 100;
    for (const Fault& fault : plan_.faults()) {
      if (fault.kind == FaultKind::kDataImbalance) percent += SkewIn(step, fault);
    }
    if (const auto churn = plan_.Amount(FaultKind::kShapeChurn, step)) {
      // The same draws on every rank.
      const auto key = static_cast<uint64_t>(step);
      if (Draw(key, 1, 3) == 1) percent += Draw(~key, *churn / 2, *churn);
    }
    return std::max<size_t>(1, count * static_cast<size_t>(std::max<int64_t>(percent, 1)) / 100);
  }

  // Percent that this rank's batch is larger: what some ranks have more, the others have less, so
  // that all of them together train on as many samples as without the fault.
  int64_t SkewIn(int64_t step, const Fault& fault) const {
    if (step < fault.begin_step || step >= fault.end_step) return 0;
    const auto with_more = static_cast<int64_t>(fault.ranks.size());
    const int64_t with_less = world_size_ - with_more;
    if (with_more == 0 || with_less <= 0) return 0;
    const bool has_more = std::binary_search(fault.ranks.begin(), fault.ranks.end(), plan_.rank());
    return has_more ? fault.amount : -fault.amount * with_more / with_less;
  }

  std::shared_ptr<RandomSampler> sampler_;
  std::shared_ptr<Shared> shared_;
  FaultPlan plan_;
  int world_size_;
  int64_t step_ = 0;  // that the next batch is for
};

}  // namespace

Batch Take(const TensorData& data, const torch::Tensor& rows) {
  const torch::Tensor target = data.targets.index_select(0, rows);
  return {data.decode(data.inputs.index_select(0, rows)),
          data.decode_target ? data.decode_target(target) : target};
}

class BatchLoader::Impl {
 public:
  Impl(TensorData data, const Shape& shape, FaultPlan plan)
      : plan_(std::move(plan)),
        shared_(std::make_shared<Shared>(plan_)),
        sampler_(std::make_shared<RandomSampler>(static_cast<size_t>(data.inputs.size(0)),
                                                 static_cast<size_t>(shape.world_size),
                                                 static_cast<size_t>(shape.rank))) {
    const int workers = plan_.Amount(FaultKind::kFewWorkers) ? 1 : shape.workers;
    loader_ =
        torch::data::make_data_loader(Dataset(std::move(data), shared_),
                                      SharedSampler(sampler_, shared_, plan_, shape.world_size),
                                      torch::data::DataLoaderOptions()
                                          .batch_size(static_cast<size_t>(shape.batch))
                                          .workers(static_cast<size_t>(workers)));
  }

  Batch Next() {
    tutti_data_wait_begin("train", shared_->finished.load() - taken_);
    if (position_) ++*position_;
    if (!position_ || *position_ == loader_->end()) BeginEpoch();
    tutti_data_wait_end();
    ++taken_;
    return {(*position_)->data, (*position_)->target};
  }

  void set_batch(int64_t batch) { shared_->batch.store(batch); }

 private:
  using Loader = torch::data::StatelessDataLoader<Dataset, SharedSampler>;
  using Position = torch::data::Iterator<Example>;

  void BeginEpoch() {
    if (const auto stall_ns = plan_.Amount(FaultKind::kEpochStall, taken_)) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(*stall_ns));
    }
    sampler_->set_epoch(epoch_++);
    position_.reset();
    position_.emplace(loader_->begin());
    // Comparing an iterator fetches its batch; here, so that the wait is annotated.
    if (*position_ == loader_->end()) throw std::runtime_error("a rank has no samples");
  }

  const FaultPlan plan_;
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<RandomSampler> sampler_;
  std::unique_ptr<Loader> loader_;
  std::optional<Position> position_;
  size_t epoch_ = 0;
  int64_t taken_ = 0;
};

BatchLoader::BatchLoader(TensorData data, const Shape& shape, FaultPlan plan)
    : impl_(std::make_unique<Impl>(std::move(data), shape, std::move(plan))) {}

BatchLoader::~BatchLoader() = default;

Batch BatchLoader::Next() { return impl_->Next(); }

void BatchLoader::set_batch(int64_t batch) { impl_->set_batch(batch); }

}  // namespace tutti::workloads
