#include "analyzer/metrics/kernel_names.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "analyzer/metrics/glob.h"

namespace tutti::analyzer {
namespace {

using Words = std::span<const std::string_view>;

// In lower case. Families of kernels that move data between ranks: NCCL, RCCL and MSCCL
// device kernels; custom all-reduces of vLLM, SGLang, FlashInfer, TensorRT-LLM and AITER;
// torch's symmetric memory; DeepEP; NVSHMEM.
constexpr std::string_view kCommPrefixes[] = {"nccl", "rccl", "msccl", "nvshmem", "multimem_"};
constexpr std::string_view kCommParts[] = {"::cross_device_reduce",
                                           "cross_device_reduce_",
                                           "multimem_all_reduce",
                                           "multimem_one_shot",
                                           "one_shot_all_reduce_",
                                           "two_shot_all_reduce_",
                                           "allreduce_fusion",
                                           "deep_ep::",
                                           "nvshmem_",
                                           "::trtllm_allreduce"};

struct CategoryWords {
  KernelCategory category;
  Words words;
};

constexpr std::string_view kOptimizer[] = {"multi_tensor_apply",
                                           "fusedadam",
                                           "fused_adam",
                                           "fusedsgd",
                                           "fused_sgd",
                                           "adamw",
                                           "_lamb",
                                           "fusedlamb",
                                           "adagrad",
                                           "radam",
                                           "optimizer_",
                                           "rmsprop",
                                           "adam_kernel",
                                           "sgd_kernel",
                                           "foreach_tensor"};
constexpr std::string_view kAttention[] = {
    "flash_fwd", "flash_bwd", "flash::",  "flashattn", "flash_attn",
    "fmha",      "attention", "aotriton", "attn_fwd",  "attn_bwd",
    "_attn_",    "mha_fwd",   "mha_bwd",  "sdpa",      "masked_softmax_dropout"};
constexpr std::string_view kConvolution[] = {
    "convolve",     "winograd",      "wgrad",     "dgrad",      "fprop",      "implicit_gemm",
    "implicitgemm", "conv2d",        "conv1d",    "conv3d",     "conv_",      "scudnn",
    "hcudnn",       "im2col",        "col2im",    "naive_conv", "cask_cudnn", "cudnn::cnn",
    "fft2d_",       "igemm_fwd",     "igemm_bwd", "igemm_wrw",  "miopenconv", "convolution",
    "depthwise",    "gridwise_conv", "_conv_",    "conv1x1"};
constexpr std::string_view kNormalisation[] = {
    "batch_norm", "batchnorm", "::bn_",          "bn_fw",      "bn_bw",     "layer_norm",
    "layernorm",  "rms_norm",  "rmsnorm",        "group_norm", "groupnorm", "instance_norm",
    "gammabeta",  "welford",   "rowwisemoments", "norm_bwd",   "norm_fwd",  "layernormforward"};
constexpr std::string_view kSoftmax[] = {"softmax"};
constexpr std::string_view kGemm[] = {
    "gemm",         "gemv",    "cublas", "cijk_",      "matmul",          "nvjet",
    "splitkreduce", "cutlass", "_mm_",   "triton_mm",  "triton_bmm",      "s16816",
    "s1688",        "h884",    "wgmma",  "dot_kernel", "triton_tem_fused"};
constexpr std::string_view kLayout[] = {
    "catarraybatchedcopy", "nchwtonhwc",     "nhwctonchw",     "transpose",
    "copy_kernel",         "permute",        "convert_tensor", "split_with_sizes_copy",
    "chunk_cat",           "batchtranspose", "copydevice"};
constexpr std::string_view kIndexing[] = {"index", "gather", "scatter", "embedding",    "sort",
                                          "radix", "topk",   "unique",  "masked_select"};
constexpr std::string_view kPooling[] = {"pool"};
constexpr std::string_view kLoss[] = {"nll_loss", "cross_entropy", "mse_loss", "ctc_loss",
                                      "nllloss"};
constexpr std::string_view kReduction[] = {"reduce", "triton_red_", "triton_per_",
                                           "argmax", "cumsum",      "devicescan"};
constexpr std::string_view kElementwise[] = {"elementwise", "triton_poi_", "dropout",
                                             "pointwise",   "fillfunctor", "activation"};

// Order matters: a fused kernel is what costs most in it, and "reduce" or "copy" is part of
// many names.
constexpr CategoryWords kCategories[] = {
    {KernelCategory::kOptimizer, kOptimizer},     {KernelCategory::kAttention, kAttention},
    {KernelCategory::kConvolution, kConvolution}, {KernelCategory::kNormalisation, kNormalisation},
    {KernelCategory::kSoftmax, kSoftmax},         {KernelCategory::kGemm, kGemm},
    {KernelCategory::kLayout, kLayout},           {KernelCategory::kIndexing, kIndexing},
    {KernelCategory::kPooling, kPooling},         {KernelCategory::kLoss, kLoss},
    {KernelCategory::kReduction, kReduction},     {KernelCategory::kElementwise, kElementwise}};

// cuBLAS, cuDNN and CUTLASS name the instruction shape or type (h884, s1688, 16816, hmma,
// imma, tensorop), Hopper kernels wgmma and nvjet; the list of kineto's tb_plugin is in it.
// rocBLAS and CK name MFMA instructions (MI16x16…, xdlops). FlashAttention has no other way.
constexpr std::string_view kTensorCore[] = {"h884",
                                            "s884",
                                            "h1688",
                                            "s1688",
                                            "i8816",
                                            "16816",
                                            "c1688",
                                            "hmma",
                                            "imma",
                                            "tensorop",
                                            "wgmma",
                                            "gmma",
                                            "nvjet",
                                            "xmma_gemm",
                                            "xmma_implicit_gemm",
                                            "xmma_sparse",
                                            "xmma_warp_specialized",
                                            "first_layer_wgrad_kernel",
                                            "conv2d_c1_k1",
                                            "dgrad_1x1_stride_2x2",
                                            "direct_group",
                                            "mfma",
                                            "xdlops",
                                            "_mi16x16",
                                            "_mi32x32",
                                            "flash_fwd",
                                            "flash_bwd",
                                            "cutlass_tensorop",
                                            "tf32"};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool HasAny(std::string_view text, Words words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

// A demangled name without its parameters, whose types say nothing about what it does, and
// without namespaces that would be taken for it; its template arguments tell.
std::string WithoutParameters(std::string lower) {
  // FBGEMM is a library of more than matrix products.
  for (const std::string_view part : {"(anonymous namespace)", "fbgemm_gpu::"}) {
    for (size_t at = lower.find(part); at != lower.npos; at = lower.find(part)) {
      lower.erase(at, part.size());
    }
  }
  int depth = 0;
  for (size_t i = 0; i < lower.size(); ++i) {
    if (lower[i] == '<') ++depth;
    if (lower[i] == '>') --depth;
    if (lower[i] == '(' && depth == 0) return lower.substr(0, i);
  }
  return lower;
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<KernelRole> RoleNamed(std::string_view name) {
  if (name == "communication") return KernelRole::kCommunication;
  if (name == "compute") return KernelRole::kCompute;
  if (name == "copy") return KernelRole::kPeerCopy;
  return std::nullopt;
}

}  // namespace

KernelRole RoleOfKernel(std::string_view name) {
  const std::string lower = Lower(name);
  if (lower.starts_with("memcpy ptop")) return KernelRole::kPeerCopy;
  if (lower.starts_with("triton_")) return KernelRole::kCompute;  // names of fused operators
  const bool communicates =
      std::any_of(std::begin(kCommPrefixes), std::end(kCommPrefixes),
                  [&](std::string_view prefix) { return lower.starts_with(prefix); }) ||
      HasAny(lower, kCommParts);
  return communicates ? KernelRole::kCommunication : KernelRole::kCompute;
}

const char* ToString(KernelCategory category) {
  constexpr std::array kNames = {"gemm",          "attention",   "convolution", "normalisation",
                                 "softmax",       "elementwise", "reduction",   "optimizer",
                                 "layout",        "indexing",    "pooling",     "loss",
                                 "communication", "other"};
  return kNames[static_cast<size_t>(category)];
}

KernelCategory CategoryOfKernel(std::string_view name) {
  if (RoleOfKernel(name) == KernelRole::kCommunication) return KernelCategory::kCommunication;
  const std::string lower = WithoutParameters(Lower(name));
  // Inductor's names say how it was generated, and then list what was fused: the first counts.
  if (lower.starts_with("triton_poi_")) return KernelCategory::kElementwise;
  if (lower.starts_with("triton_red_") || lower.starts_with("triton_per_")) {
    return HasAny(lower, kNormalisation) ? KernelCategory::kNormalisation
           : HasAny(lower, kSoftmax)     ? KernelCategory::kSoftmax
                                         : KernelCategory::kReduction;
  }
  for (const CategoryWords& known : kCategories) {
    if (HasAny(lower, known.words)) return known.category;
  }
  return KernelCategory::kOther;
}

std::string_view CollectiveOfKernel(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kOps[] = {
      {"allreduce", "all_reduce"},
      {"all_reduce", "all_reduce"},
      {"cross_device_reduce", "all_reduce"},
      {"reducescatter", "reduce_scatter"},
      {"reduce_scatter", "reduce_scatter"},
      {"allgather", "all_gather"},
      {"all_gather", "all_gather"},
      {"alltoall", "all_to_all"},
      {"all_to_all", "all_to_all"},
      {"dispatch", "all_to_all"},
      {"combine", "all_to_all"},
      {"broadcast", "broadcast"},
      {"sendrecv", "send_recv"},
      {"_reduce_", "reduce"}};
  const std::string lower = Lower(name);
  for (const auto& [part, op] : kOps) {
    if (lower.find(part) != lower.npos) return op;
  }
  return "";
}

std::optional<bool> UsesTensorCores(std::string_view name, KernelCategory category) {
  if (category != KernelCategory::kGemm && category != KernelCategory::kAttention &&
      category != KernelCategory::kConvolution) {
    return std::nullopt;
  }
  return HasAny(WithoutParameters(Lower(name)), kTensorCore);
}

Result<KernelRules> KernelRules::Parse(std::string_view text, std::string_view origin) {
  KernelRules rules;
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const size_t space = std::min(line.find_first_of(" \t"), line.size());
    const std::optional<KernelRole> role = RoleNamed(line.substr(0, space));
    const std::string_view pattern = Trim(line.substr(space));
    if (!role || pattern.empty()) {
      return UsageError(std::string(origin) + ":" + std::to_string(number) + ": \"" +
                        std::string(line) +
                        "\" is not 'communication PATTERN', 'compute PATTERN' or 'copy PATTERN'");
    }
    rules.rules_.push_back({*role, Lower(pattern)});
  }
  return rules;
}

std::optional<KernelRole> KernelRules::RoleOf(std::string_view name) const {
  if (rules_.empty()) return std::nullopt;
  const std::string lower = Lower(name);
  for (const Rule& rule : rules_) {
    if (MatchesGlob(rule.pattern, lower)) return rule.role;
  }
  return std::nullopt;
}

}  // namespace tutti::analyzer
