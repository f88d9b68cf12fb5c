#include "collector/conventions/range_name.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "collector/convert/op_name.h"

namespace tutti::collector::conventions {
namespace {

constexpr size_t kLongestWord = 64;  // no convention has longer names

struct Phrase {
  std::string_view name;  // lower case
  std::string_view phase;
};
constexpr Phrase kPhases[] = {
    {"forward", "forward"},
    {"fwd", "forward"},
    {"forward pass", "forward"},
    {"forward_pass", "forward"},
    {"forward_step", "forward"},
    {"forward-compute", "forward"},
    {"deepspeedengine.forward", "forward"},
    {"backward", "backward"},
    {"bwd", "backward"},
    {"backward pass", "backward"},
    {"backward_pass", "backward"},
    {"backward_step", "backward"},
    {"backward-compute", "backward"},
    {"deepspeedengine.backward", "backward"},
    {"optimizer", "optimizer"},
    {"optimizer step", "optimizer"},
    {"optimizer_step", "optimizer"},
    {"optimizer.step", "optimizer"},
    {"opt.step()", "optimizer"},
    {"opt.step", "optimizer"},
    {"opt_step", "optimizer"},
    {"deepspeedengine.step", "optimizer"},
    {"deepspeedengine._take_model_step", "optimizer"},
    {"checkpoint", "checkpoint"},
    {"save_checkpoint", "checkpoint"},
    {"save-checkpoint", "checkpoint"},
    {"evaluation", "evaluation"},
    {"validation", "evaluation"},
    {"validation_step", "evaluation"},
};
constexpr std::string_view kStepWords[] = {"step",
                                           "train_step",
                                           "train step",
                                           "training_step",
                                           "training step",
                                           "iteration",
                                           "iterations",
                                           "iter",
                                           "train_iter",
                                           "train_batch",
                                           "training_batch",
                                           "global_step",
                                           "run_training_batch"};
constexpr std::string_view kLoaderWords[] = {"dataloader",   "data_loader", "data loading",
                                             "data_loading", "load_data",   "load data",
                                             "get_batch",    "next_batch",  "batch-generator"};
constexpr std::string_view kLightning = "[pl][profile]";
constexpr std::string_view kLightningNext = "train_dataloader_next";

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

template <size_t kSize>
bool Contains(const std::string_view (&words)[kSize], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

struct Numbered {
  std::string_view stem;
  std::optional<int64_t> number;
};

// "iteration 12", "step_3", "Step::4", "iter#5", "iteration7" -> stem and number.
Numbered SplitNumber(std::string_view name) {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  if (digits == name.size()) return {name, std::nullopt};
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(name.data() + digits, name.data() + name.size(), number);
  if (error != std::errc()) return {name, std::nullopt};
  size_t stem = digits;
  constexpr std::string_view kSeparators = " _#:=-[(";
  while (stem > 0 && kSeparators.find(name[stem - 1]) != std::string_view::npos) --stem;
  return {name.substr(0, stem), number};
}

std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + key.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

RangeName StepName(std::string_view stem, std::optional<int64_t> number) {
  RangeName range;
  range.meaning = RangeMeaning::kStep;
  range.stem = stem;
  range.number = number;
  return range;
}

RangeName PhaseName(std::string_view phase) {
  RangeName range;
  range.meaning = RangeMeaning::kPhase;
  range.phase = phase;
  return range;
}

RangeName DataWaitName(std::string_view loader) {
  RangeName range;
  range.meaning = RangeMeaning::kDataWait;
  range.loader = loader;
  return range;
}

std::optional<RangeName> TorchName(std::string_view name) {
  const convert::OpName op = convert::ParseOpName(name);
  switch (op.meaning) {
    case convert::OpMeaning::kStep:
      return StepName(name.substr(0, name.find('#')), op.step);
    case convert::OpMeaning::kOptimizer:
      return PhaseName("optimizer");
    case convert::OpMeaning::kDataWait:
      return DataWaitName(op.loader);
    case convert::OpMeaning::kPlain:
      return std::nullopt;
  }
  return std::nullopt;
}

// "[pl][profile][Strategy]DDPStrategy.training_step", "[pl][profile]run_training_batch".
RangeName LightningName(std::string_view action) {
  if (action.ends_with(kLightningNext)) return DataWaitName(action);
  const std::string_view method = action.substr(action.find_last_of("].") + 1);
  if (method == "run_training_batch") return StepName(method, std::nullopt);
  if (method == "training_step") return PhaseName("forward");
  if (method == "backward") return PhaseName("backward");
  if (method == "optimizer_step") return PhaseName("optimizer");
  if (method == "validation_step") return PhaseName("evaluation");
  if (method == "save_checkpoint") return PhaseName("checkpoint");
  return {};
}

}  // namespace

RangeName ParseRangeName(std::string_view name) {
  if (const auto torch = TorchName(name)) return *torch;
  if (name.starts_with(kLightning)) return LightningName(name.substr(kLightning.size()));
  if (name.size() > kLongestWord) return {};
  const std::string lower = Lower(name);
  for (const Phrase& phrase : kPhases) {
    if (phrase.name == lower) return PhaseName(phrase.phase);
  }
  if (Contains(kLoaderWords, lower)) return DataWaitName(name);
  const Numbered split = SplitNumber(name);
  if (Contains(kStepWords, std::string_view(lower).substr(0, split.stem.size()))) {
    return StepName(split.stem, split.number);
  }
  return {};
}

std::optional<EmittedOp> ParseEmittedOp(std::string_view name) {
  const size_t comma = name.find(", ");
  if (comma == std::string_view::npos || comma == 0) return std::nullopt;
  const std::string_view rest = name.substr(comma);
  if (!rest.starts_with(", seq = ") && !rest.starts_with(", op_id = ")) return std::nullopt;
  EmittedOp op;
  op.name = name.substr(0, comma);
  op.sequence_nr = NumberAfter(rest, ", seq = ");
  constexpr std::string_view kSizes = ", sizes = ";
  if (const size_t at = rest.find(kSizes); at != std::string_view::npos) {
    op.shapes = rest.substr(at + kSizes.size());
    op.shapes = op.shapes.substr(0, op.shapes.find(", input_op_ids = "));
  }
  return op;
}

bool IsBackwardFunction(std::string_view name) {
  if (name.starts_with("autograd::engine::evaluate_function")) return true;
  const size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && name.substr(0, end + 1).ends_with("Backward");
}

}  // namespace tutti::collector::conventions
