// dlrm: a recommendation model that learns which adverts are clicked. The rows of its embedding
// tables are divided among ranks, so that lookups travel by all-to-all; its perceptrons are
// data-parallel. README.md says what its trace looks like.
#include <torch/torch.h>

#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "workloads/common/adamw.h"
#include "workloads/common/replica.h"
#include "workloads/common/training.h"

namespace tutti::workloads {
namespace {

constexpr int64_t kDense = 8;  // numbers of a sample

struct DlrmOptions {
  int64_t tables = 8;
  int64_t rows = 5003;  // of a table
  int64_t width = 16;   // of a row
  int64_t samples = 32'768;

  std::vector<OwnOption> List() {
    return {{"--tables", "Embedding tables", &tables},
            {"--rows", "Rows of a table", &rows},
            {"--width", "Numbers of a row", &width},
            {"--samples", "Samples to generate", &samples}};
  }
};

// A sample is kDense numbers and a row of each table, some much more often than others; whether it
// was clicked depends on all of them. The same on every rank.
TensorData MakeClicks(const DlrmOptions& options, int64_t seed) {
  torch::manual_seed(static_cast<uint64_t>(seed + 1));  // whatever the model has drawn
  const torch::Tensor dense = torch::randn({options.samples, kDense});
  const torch::Tensor popular = torch::rand({options.samples, options.tables}).pow(3);
  const torch::Tensor rows = popular.mul(static_cast<double>(options.rows)).floor();
  const torch::Tensor effects = torch::randn({options.tables, options.rows});
  torch::Tensor logits = dense.mv(torch::randn({kDense}));
  for (int64_t table = 0; table < options.tables; ++table) {
    logits += effects[table].index_select(0, rows.select(1, table).to(torch::kLong));
  }
  TensorData data;
  data.inputs = torch::cat({dense, rows}, 1);
  data.targets = torch::bernoulli(torch::sigmoid(logits));
  data.decode = [](torch::Tensor input) { return input; };
  return data;
}

// Rows of all tables, numbered through and divided among ranks by their remainder. Their gradients
// are applied by their owner, with Adagrad.
class ShardedRows {
 public:
  ShardedRows(int64_t rows, int64_t width, const Job& job) : job_(job), ranks_(job.env.world_size) {
    constexpr double kDeviation = 0.05;
    const auto options = torch::dtype(torch::kFloat).device(job.device);
    values_ = torch::randn({(rows + ranks_ - 1) / ranks_, width}, options).mul_(kDeviation);
    squares_ = torch::zeros({values_.size(0), 1}, options);
  }

  // The values of |rows| [n] as [n, width]. By all-to-all: how many rows of whom, which, and back
  // their values. Keeps what Learn needs.
  torch::Tensor Lookup(const torch::Tensor& rows) {
    const torch::NoGradGuard no_grad;
    const torch::Tensor owners = rows.remainder(ranks_);
    order_ = owners.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
    const torch::Tensor counts = owners.bincount({}, ranks_);
    sent_ = ToSplits(counts);
    received_ = ToSplits(AllToAll(counts, {}, {}));
    const torch::Tensor wanted = rows.index_select(0, order_).floor_divide(ranks_);
    asked_ = AllToAll(wanted, sent_, received_);
    const torch::Tensor sorted = AllToAll(values_.index_select(0, asked_), received_, sent_);
    return torch::empty_like(sorted).index_copy_(0, order_, sorted);
  }

  // Takes the gradients of what Lookup returned last to their owners, by all-to-all.
  void SendGradients(const torch::Tensor& gradients) {
    const torch::NoGradGuard no_grad;
    const torch::Tensor mine = AllToAll(gradients.index_select(0, order_), sent_, received_);
    if (!sum_.defined()) sum_ = torch::zeros_like(values_);
    sum_.index_add_(0, asked_, mine, 1.0 / static_cast<double>(ranks_));
  }

  void Learn(double rate) {
    constexpr double kEpsilon = 1e-8;
    const torch::NoGradGuard no_grad;
    squares_ += sum_.square().mean(1, /*keepdim=*/true);
    values_ -= rate * sum_ / (squares_.sqrt() + kEpsilon);
    sum_.reset();
  }

  const torch::Tensor& values() const { return values_; }

 private:
  using Splits = std::vector<int64_t>;

  static Splits ToSplits(const torch::Tensor& counts) {
    const torch::Tensor host = counts.cpu();
    return {host.data_ptr<int64_t>(), host.data_ptr<int64_t>() + host.numel()};
  }

  // Exchanges rows of |input|: splits say how many go to and come from each rank; empty: as many
  // to and from each.
  torch::Tensor AllToAll(const torch::Tensor& input, Splits to, Splits from) {
    if (!job_.group) return input;
    std::vector<int64_t> sizes = input.sizes().vec();
    if (!from.empty()) sizes[0] = std::accumulate(from.begin(), from.end(), int64_t{0});
    torch::Tensor output = torch::empty(sizes, input.options());
    torch::Tensor contiguous = input.contiguous();
    job_.group->alltoall_base(output, contiguous, from, to)->wait();
    return output;
  }

  const Job& job_;
  const int64_t ranks_;
  torch::Tensor values_;   // [rows of this rank, width]
  torch::Tensor squares_;  // of gradients, summed over steps, a number a row
  torch::Tensor sum_;      // of gradients in this step

  // Of the last lookup.
  torch::Tensor order_;  // of lookups by owner
  torch::Tensor asked_;  // rows of this rank that were asked for
  Splits sent_, received_;
};

// One makes a vector of the dense numbers, the other a logit of it and of all interactions.
struct Perceptrons : torch::nn::Module {
  explicit Perceptrons(const DlrmOptions& options) {
    constexpr int64_t kHidden = 128;
    const int64_t features = options.width + (options.tables + 1) * options.tables / 2;
    bottom = register_module(
        "bottom", torch::nn::Sequential(torch::nn::Linear(kDense, kHidden), torch::nn::ReLU(),
                                        torch::nn::Linear(kHidden, options.width)));
    top = register_module(
        "top", torch::nn::Sequential(torch::nn::Linear(features, kHidden), torch::nn::ReLU(),
                                     torch::nn::Linear(kHidden, 1)));
  }
  torch::nn::Sequential bottom, top;
};

class Dlrm : public Replica {
 public:
  Dlrm(const Job& job, const DlrmOptions& options)
      : Replica(job),
        options_(options),
        rows_(options.tables * options.rows, options.width, job),
        model_(std::make_shared<Perceptrons>(options)) {
    Start(model_, MakeClicks(options, job.options.seed),
          std::to_string(options.samples) + " generated samples of " +
              std::to_string(options.tables) + " tables of " + std::to_string(options.rows) +
              " rows");
    optimizer_.emplace(model_->parameters(), job.options.lr);
  }

  bool saves() const override { return true; }  // its rows of the tables

  void Save(torch::serialize::OutputArchive& archive) const override {
    Replica::Save(archive);
    archive.write("rows", rows_.values());
  }

 protected:
  torch::Tensor Loss(const Batch& batch, int64_t step) override {
    const int64_t samples = batch.input.size(0);
    const torch::Tensor tables = torch::arange(options_.tables, batch.input.options());
    const torch::Tensor rows = batch.input.narrow(1, kDense, options_.tables) +
                               tables * static_cast<double>(options_.rows);
    looked_up_ = rows_.Lookup(Skewed(rows.flatten().to(torch::kLong), step));
    looked_up_.requires_grad_(torch::GradMode::is_enabled());
    const torch::Tensor dense = model_->bottom->forward(batch.input.narrow(1, 0, kDense));
    const torch::Tensor all =
        torch::cat({dense.unsqueeze(1), looked_up_.view({samples, options_.tables, -1})}, 1);
    return torch::binary_cross_entropy_with_logits(
        model_->top->forward(torch::cat({dense, Interactions(all)}, 1)).squeeze(1), batch.target);
  }

  void AfterBackward(int64_t, bool) override { rows_.SendGradients(looked_up_.grad()); }

  void Update(int64_t) override {
    constexpr double kRowsPerPerceptron = 10;  // learning rates; rows are seen far less often
    optimizer_->Step();
    optimizer_->DropGradients();
    rows_.Learn(kRowsPerPerceptron * job_.options.lr);
  }

 private:
  // Products of each pair of vectors, as DLRM has them.
  static torch::Tensor Interactions(const torch::Tensor& vectors) {
    const torch::Tensor products = vectors.bmm(vectors.transpose(1, 2));
    const torch::Tensor pairs = torch::tril_indices(
        vectors.size(1), vectors.size(1), -1, torch::dtype(torch::kLong).device(vectors.device()));
    return products.index({torch::indexing::Slice(), pairs[0], pairs[1]});
  }

  // The fault skewed_experts: lookups of other ranks' rows go to a neighbour of the row on the
  // rank, so many that it gets its share of them and that much more.
  torch::Tensor Skewed(torch::Tensor rows, int64_t step) const {
    const int64_t ranks = job_.env.world_size;
    for (int rank = 0; ranks > 1 && rank < ranks; ++rank) {
      const FaultPlan plan(job_.options.faults, rank);
      const auto percent = plan.Amount(FaultKind::kSkewedExperts, step);
      if (!percent) continue;
      constexpr int64_t kPrime = 7919;  // a draw that is the same for a row each time
      const torch::Tensor drawn = rows.mul(kPrime).remainder(100 * (ranks - 1)).lt(*percent);
      const torch::Tensor neighbour =
          (rows.floor_divide(ranks) * ranks + rank).clamp_max(options_.tables * options_.rows - 1);
      rows = torch::where(drawn, neighbour, rows);
    }
    return rows;
  }

  const DlrmOptions options_;
  ShardedRows rows_;
  std::shared_ptr<Perceptrons> model_;
  std::optional<AdamW> optimizer_;
  torch::Tensor looked_up_;  // of the batch at hand
};

}  // namespace
}  // namespace tutti::workloads

int main(int argc, char** argv) {
  namespace workloads = tutti::workloads;
  workloads::Options options;
  options.batch = 128;
  options.lr = 0.003;
  options.carries.push_back(workloads::FaultKind::kSkewedExperts);
  workloads::DlrmOptions own;
  const auto status = workloads::ParseOptions(
      "dlrm", "Trains a recommendation model whose embedding tables are divided among ranks.", argc,
      argv, options, own.List());
  if (status) return *status;
  return workloads::RunTraining("dlrm", options, [&](const workloads::Job& job) {
    return std::make_unique<workloads::Dlrm>(job, own);
  });
}
