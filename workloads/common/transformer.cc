#include "workloads/common/transformer.h"

#include <memory>
#include <stdexcept>

#include "workloads/common/recompute.h"

namespace tutti::workloads {
namespace {

using torch::nn::LayerNormOptions;

constexpr int64_t kExpansion = 4;  // hidden units per unit of width, as GPT-2 has

// Keeps the rows of |linear|'s output that belong to this part: |groups| equal groups of rows
// (query, key and value) are each cut.
void KeepRows(Dense& linear, const Cut& cut, int64_t groups) {
  if (cut.parts == 1) return;
  const auto slice = [&](const torch::Tensor& full) {
    const torch::Tensor grouped = full.unflatten(0, {groups, -1});
    return grouped.chunk(cut.parts, 1)[static_cast<size_t>(cut.part)].flatten(0, 1).clone();
  };
  linear->weight.set_data(slice(linear->weight));
  linear->bias.set_data(slice(linear->bias));
}

// Keeps the columns that take this part's units; the bias is added once, to the sum.
void KeepColumns(Dense& linear, const Cut& cut) {
  if (cut.parts == 1) return;
  linear->weight.set_data(
      linear->weight.chunk(cut.parts, 1)[static_cast<size_t>(cut.part)].clone());
}

torch::nn::Embedding MakeEmbedding(int64_t rows, int64_t width) {
  constexpr double kDeviation = 0.02;
  torch::nn::Embedding embedding(rows, width);
  const torch::NoGradGuard no_grad;
  embedding->weight.normal_(0, kDeviation);
  return embedding;
}

void Seed(int64_t seed, int64_t part) {
  constexpr int64_t kPartsPerSeed = 10'000;
  torch::manual_seed(static_cast<uint64_t>(seed * kPartsPerSeed + part));
}

}  // namespace

std::vector<OwnOption> TextOptions::List() {
  return {{"--context", "Characters of a sample", &shape.context},
          {"--width", "Width of the model", &shape.width},
          {"--heads", "Attention heads", &shape.heads},
          {"--layers", "Transformer blocks", &shape.layers},
          {.flag = "--data",
           .help = "Text file; empty: the licences that Debian ships",
           .value = &file,
           .is_existing_path = true}};
}

BlockImpl::BlockImpl(const TransformerShape& shape, int64_t seed, const Cut& cut)
    : heads_(shape.heads / cut.parts),
      cut_(cut),
      attention_norm_(nullptr),
      hidden_norm_(nullptr),
      query_key_value_(nullptr),
      project_(nullptr),
      expand_(nullptr),
      contract_(nullptr) {
  if (shape.width % shape.heads != 0 || shape.heads % cut.parts != 0) {
    throw std::runtime_error(
        "--width must be a multiple of --heads, and --heads of the ranks "
        "that share a layer");
  }
  const int64_t width = shape.width;
  Seed(shape.seed, seed);
  attention_norm_ = torch::nn::LayerNorm(LayerNormOptions({width}));
  hidden_norm_ = torch::nn::LayerNorm(LayerNormOptions({width}));
  query_key_value_ = Dense(width, 3 * width);
  project_ = Dense(width, width);
  expand_ = Dense(width, kExpansion * width);
  contract_ = Dense(kExpansion * width, width);
  KeepRows(query_key_value_, cut, 3);
  KeepColumns(project_, cut);
  KeepRows(expand_, cut, 1);
  KeepColumns(contract_, cut);
  register_module("attention_norm", attention_norm_);
  register_module("query_key_value", query_key_value_);
  register_module("project", project_);
  register_module("hidden_norm", hidden_norm_);
  register_module("expand", expand_);
  register_module("contract", contract_);
}

std::vector<torch::Tensor> BlockImpl::CutParameters() const {
  return {query_key_value_->weight, query_key_value_->bias, project_->weight,
          expand_->weight,          expand_->bias,          contract_->weight};
}

torch::Tensor BlockImpl::forward(const torch::Tensor& input) {
  const auto enter = [&](const torch::Tensor& x) { return cut_.enter ? cut_.enter(x) : x; };
  const auto leave = [&](Dense& last, const torch::Tensor& x) {
    if (!cut_.leave) return last->forward(x);
    return cut_.leave(torch::linear(x, last->weight)) + last->bias;
  };
  const torch::Tensor attended = Attend(enter(attention_norm_->forward(input)));
  const torch::Tensor middle = input + leave(project_, attended);
  const torch::Tensor hidden = torch::gelu(expand_->forward(enter(hidden_norm_->forward(middle))));
  return middle + leave(contract_, hidden);
}

torch::Tensor BlockImpl::Attend(const torch::Tensor& input) {
  // [batch, length, 3, heads, width of a head] -> 3 x [batch, heads, length, width of a head]
  const auto parts = query_key_value_->forward(input)
                         .unflatten(2, {int64_t{3}, heads_, int64_t{-1}})
                         .permute({2, 0, 3, 1, 4})
                         .unbind(0);
  const torch::Tensor attended = at::scaled_dot_product_attention(
      parts[0], parts[1], parts[2], /*attn_mask=*/{}, /*dropout_p=*/0, /*is_causal=*/true);
  return attended.transpose(1, 2).flatten(2);
}

TransformerImpl::TransformerImpl(const TransformerShape& shape, int64_t begin, int64_t end,
                                 const Cut& cut) {
  if (begin == 0) {
    Seed(shape.seed, 0);
    tokens_ = register_module("tokens", MakeEmbedding(shape.vocabulary, shape.width));
    positions_ = register_module("positions", MakeEmbedding(shape.context, shape.width));
  }
  for (int64_t layer = begin; layer < end; ++layer) {
    blocks_.push_back(
        register_module("block" + std::to_string(layer), Block(shape, /*seed=*/layer + 2, cut)));
  }
  if (end == shape.layers) {
    Seed(shape.seed, 1);
    norm_ = register_module("norm", torch::nn::LayerNorm(LayerNormOptions({shape.width})));
    head_ = register_module("head", Dense(shape.width, shape.vocabulary));
  }
}

torch::Tensor TransformerImpl::forward(torch::Tensor input) {
  if (tokens_) {
    const torch::Tensor places = torch::arange(input.size(1), input.options().dtype(torch::kLong));
    input = tokens_->forward(input) + positions_->forward(places);
  }
  for (Block& block : blocks_) {
    if (checkpointing_ && torch::GradMode::is_enabled()) {
      const auto function = [block](const torch::Tensor& x) mutable { return block->forward(x); };
      input = Recomputed(function, input);
    } else {
      input = block->forward(input);
    }
  }
  return head_ ? head_->forward(norm_->forward(input)) : input;
}

torch::Tensor TokenLoss(const torch::Tensor& logits, const torch::Tensor& targets) {
  return torch::nn::functional::cross_entropy(logits.flatten(0, 1), targets.flatten());
}

TensorData TextWindows(Text text, int64_t context) {
  const auto owner = std::make_shared<Text>(std::move(text));
  const auto length = static_cast<int64_t>(owner->tokens.size());
  if (length <= context) throw std::runtime_error("the text is shorter than --context");
  const torch::Tensor tokens = torch::from_blob(
      owner->tokens.data(), {length}, [owner](void*) {}, torch::kByte);
  const int64_t stride = std::max<int64_t>(1, context / 2);
  const auto widen = [](const torch::Tensor& bytes) { return bytes.to(torch::kLong); };
  TensorData data;
  data.inputs = tokens.narrow(0, 0, length - 1).unfold(0, context, stride);
  data.targets = tokens.narrow(0, 1, length - 1).unfold(0, context, stride);
  data.decode = widen;
  data.decode_target = widen;
  return data;
}

}  // namespace tutti::workloads
