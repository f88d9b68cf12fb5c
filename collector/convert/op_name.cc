#include "collector/convert/op_name.h"

#include <charconv>
#include <optional>

namespace tutti::collector::convert {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";
constexpr std::string_view kOptimizerStepPrefix = "Optimizer.step#";
constexpr std::string_view kZeroGradPrefix = "Optimizer.zero_grad#";
constexpr std::string_view kLoaderPrefix = "enumerate(DataLoader)#";
constexpr std::string_view kNextSuffix = ".__next__";

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

OpName ParseOpName(std::string_view name) {
  if (name.starts_with(kStepPrefix)) {
    const auto step = WholeNumber(name.substr(kStepPrefix.size()));
    return step ? OpName{OpMeaning::kStep, *step, {}} : OpName{};
  }
  if (name.starts_with(kOptimizerStepPrefix) || name.starts_with(kZeroGradPrefix)) {
    return {OpMeaning::kOptimizer, 0, {}};
  }
  if (name.starts_with(kLoaderPrefix) && name.ends_with(kNextSuffix) &&
      name.size() > kLoaderPrefix.size() + kNextSuffix.size()) {
    name.remove_prefix(kLoaderPrefix.size());
    name.remove_suffix(kNextSuffix.size());
    return {OpMeaning::kDataWait, 0, name};
  }
  return {};
}

}  // namespace tutti::collector::convert
