#include "collector/conventions/nccl_kernel.h"

#include <utility>

namespace tutti::collector::conventions {
namespace {

using Word = std::pair<std::string_view, std::string_view>;  // NCCL's, ours

constexpr Word kOps[] = {
    {"AllReduce", "all_reduce"},         {"AllGather", "all_gather"}, {"Broadcast", "broadcast"},
    {"ReduceScatter", "reduce_scatter"}, {"Reduce", "reduce"},
};

constexpr Word kDtypes[] = {
    {"i8", "int8"},
    {"u8", "uint8"},
    {"i32", "int32"},
    {"u32", "uint32"},
    {"i64", "int64"},
    {"u64", "uint64"},
    {"f16", "float16"},
    {"f32", "float32"},
    {"f64", "float64"},
    {"bf16", "bfloat16"},
    {"half", "float16"},
    {"float", "float32"},
    {"double", "float64"},
    {"int8_t", "int8"},
    {"uint8_t", "uint8"},
    {"int32_t", "int32"},
    {"uint32_t", "uint32"},
    {"int64_t", "int64"},
    {"uint64_t", "uint64"},
    {"f8e4m3", "float8_e4m3fn"},
    {"f8e5m2", "float8_e5m2"},
    {"__nv_bfloat16", "bfloat16"},
    {"hip_bfloat16", "bfloat16"},
    {"rccl_bfloat16", "bfloat16"},
};

constexpr Word kAlgorithms[] = {
    {"TREE", "TREE"},
    {"RING", "RING"},
    {"COLLNET_DIRECT", "COLLNET_DIRECT"},
    {"PAT", "PAT"},
    {"NVLS", "NVLS"},
    {"COLLNET_CHAIN", "COLLNET_CHAIN"},
    {"NVLS_TREE", "NVLS_TREE"},
};

constexpr Word kProtocols[] = {{"LL", "LL"}, {"LL128", "LL128"}, {"SIMPLE", "SIMPLE"}};

// Whether |text| holds |word| between underscores or its ends.
bool HoldsWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == '_';
    const size_t end = at + word.size();
    if (begins && (end == text.size() || text[end] == '_')) return true;
  }
  return false;
}

// The longest of |words| that is in |text|.
template <size_t kCount>
std::string Find(std::string_view text, const Word (&words)[kCount]) {
  std::string_view longest;
  std::string_view ours;
  for (const auto& [theirs, name] : words) {
    if (theirs.size() > longest.size() && HoldsWord(text, theirs)) {
      longest = theirs;
      ours = name;
    }
  }
  return std::string(ours);
}

}  // namespace

NcclKernel ParseNcclKernel(std::string_view name) {
  name = name.substr(0, name.find('('));
  return {Find(name, kOps), Find(name, kDtypes), Find(name, kAlgorithms), Find(name, kProtocols)};
}

}  // namespace tutti::collector::conventions
