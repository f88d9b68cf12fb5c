// A decoder-only transformer (pre-norm, learned positions, GELU) that can be cut: by layers for a
// pipeline, by heads and hidden units for tensor parallelism.
#ifndef TUTTI_WORKLOADS_COMMON_TRANSFORMER_H_
#define TUTTI_WORKLOADS_COMMON_TRANSFORMER_H_

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/common/batch_loader.h"
#include "workloads/common/dense.h"
#include "workloads/common/options.h"
#include "workloads/common/text.h"

namespace tutti::workloads {

struct TransformerShape {
  int64_t vocabulary = 0;
  int64_t context = 64;
  int64_t width = 64;
  int64_t heads = 4;
  int64_t layers = 2;
  int64_t seed = 1;  // of the initial parameters; each block draws its own from it
};

// --context, --width, --heads, --layers and --data of the workloads that train one.
struct TextOptions {
  TransformerShape shape;
  std::string file;
  std::vector<OwnOption> List();
};

// What a rank holds of each block, and what happens where its part meets those of the others.
struct Cut {
  int64_t part = 0;
  int64_t parts = 1;
  using Seam = std::function<torch::Tensor(const torch::Tensor&)>;
  Seam enter;  // before the cut layers; null: nothing
  Seam leave;  // after them: the sum over all parts; null: nothing
};

// Attention, then two linear layers, each added to its input.
class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(const TransformerShape& shape, int64_t seed, const Cut& cut);
  torch::Tensor forward(const torch::Tensor& input);

  // Parameters of which each part of the cut has its own slice.
  std::vector<torch::Tensor> CutParameters() const;

 private:
  torch::Tensor Attend(const torch::Tensor& input);

  const int64_t heads_;  // of this part
  const Cut cut_;
  torch::nn::LayerNorm attention_norm_, hidden_norm_;
  Dense query_key_value_, project_, expand_, contract_;
};
TORCH_MODULE(Block);

// Blocks [begin, end) of the transformer; the embeddings come with the first, the head with the
// last. The same seed gives the same parameters however the layers are divided.
class TransformerImpl : public torch::nn::Module {
 public:
  TransformerImpl(const TransformerShape& shape, int64_t begin, int64_t end, const Cut& cut = {});

  // Takes tokens [batch, length] if it has the first block, else what its predecessor returned;
  // returns logits if it has the last, else activations [batch, length, width].
  torch::Tensor forward(torch::Tensor input);

  // Forward keeps only the inputs of blocks, and backward computes the rest again.
  void set_checkpointing(bool on) { checkpointing_ = on; }

  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  bool checkpointing_ = false;
  torch::nn::Embedding tokens_{nullptr}, positions_{nullptr};
  std::vector<Block> blocks_;
  torch::nn::LayerNorm norm_{nullptr};
  Dense head_{nullptr};
};
TORCH_MODULE(Transformer);

// Mean cross entropy of [batch, length, vocabulary] against [batch, length].
torch::Tensor TokenLoss(const torch::Tensor& logits, const torch::Tensor& targets);

// Windows of |context| characters, each half a window after the one before; the targets are the
// characters that follow.
TensorData TextWindows(Text text, int64_t context);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_TRANSFORMER_H_
