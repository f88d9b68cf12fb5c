// What the names of ranges mean (NVTX, record_function) that programs and frameworks set
// by hand: steps, phases of a step, waits for data. Conventions known: PyTorch's own
// (collector/convert/op_name.h), emit_nvtx, Lightning ("[pl][profile]…"), DeepSpeed
// ("DeepSpeedEngine.forward"), Megatron-LM ("forward_step"), and the plain words that
// training loops use ("iteration12", "step 3", "fwd").
// A name that only might mean something means nothing: steps are wrong worse than absent.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::collector::conventions {

enum class RangeMeaning : uint8_t { kPlain, kStep, kPhase, kDataWait };

struct RangeName {
  RangeMeaning meaning = RangeMeaning::kPlain;
  std::string_view stem;          // kStep: the name without number: one convention
  std::optional<int64_t> number;  // kStep: its number, where the name has one
  std::string_view phase;         // kPhase: value of phase.phase
  std::string_view loader;        // kDataWait: name of the loader; points into the name
};

RangeName ParseRangeName(std::string_view name);

// A name as torch.autograd.profiler.emit_nvtx writes it:
// "aten::addmm, seq = 12, op_id = 7, sizes = [[8, 4], []]".
struct EmittedOp {
  std::string_view name;
  std::optional<int64_t> sequence_nr;
  std::string_view shapes;  // empty where not recorded
};
// Absent if the name isn't of that form ("op_id = " and "seq = " both missing).
std::optional<EmittedOp> ParseEmittedOp(std::string_view name);

// True for a name that autograd gives the backward of an operator ("AddmmBackward0",
// "autograd::engine::evaluate_function: …").
bool IsBackwardFunction(std::string_view name);

}  // namespace tutti::collector::conventions
