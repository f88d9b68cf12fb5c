// What a GPU kernel does, told by its name. Names decide only where no collective metadata
// does; look-alikes (at::native::reduce_kernel, fused triton names with "all_reduce" in
// them, index kernels called all_to_all_…) stay compute.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace tutti::analyzer {

enum class KernelRole : uint8_t { kCompute, kCommunication, kPeerCopy };

// By the names that the libraries of the field use.
KernelRole RoleOfKernel(std::string_view name);

// What kind of work, for sums over kernels that do the same. The first that fits, in this
// order after communication: optimizer, attention, convolution, normalisation, softmax,
// gemm, layout, indexing, pooling, loss, reduction, elementwise.
enum class KernelCategory : uint8_t {
  kGemm,
  kAttention,
  kConvolution,
  kNormalisation,
  kSoftmax,
  kElementwise,
  kReduction,
  kOptimizer,
  kLayout,    // moves, converts or transposes data inside the GPU
  kIndexing,  // gathers, scatters, embeddings, sorting
  kPooling,
  kLoss,
  kCommunication,
  kOther,
};
const char* ToString(KernelCategory category);
KernelCategory CategoryOfKernel(std::string_view name);

// The collective that a communication kernel runs ('all_reduce', …), as far as its name
// says so; "" if it does not. Never the algorithm or protocol: NCCL prints RING_LL in names
// of kernels that run others (NVIDIA/nccl#739).
std::string_view CollectiveOfKernel(std::string_view name);

// Whether the kernel uses tensor (matrix) cores, for kernels that could: GEMM, attention,
// convolution. Nothing for others. Known from substrings that vendors put into names of
// such kernels, so that "no" means "its name does not say so".
std::optional<bool> UsesTensorCores(std::string_view name, KernelCategory category);

// A user's own rules, before those above. A text of lines "ROLE PATTERN": role
// 'communication', 'compute' or 'copy'; the pattern is the rest of the line, of the whole
// name, with * for any characters and ? for one, without regard to case. '#' begins a
// comment line. The first rule that fits decides.
class KernelRules {
 public:
  KernelRules() = default;
  // `origin` names the text in errors. kUsage says which line is wrong.
  static Result<KernelRules> Parse(std::string_view text, std::string_view origin);

  std::optional<KernelRole> RoleOf(std::string_view name) const;
  bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    KernelRole role;
    std::string pattern;  // lower case
  };
  std::vector<Rule> rules_;
};

}  // namespace tutti::analyzer
