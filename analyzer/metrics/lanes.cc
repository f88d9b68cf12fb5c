#include "analyzer/metrics/lanes.h"

#include <algorithm>

namespace tutti::analyzer {
namespace {

LaneDecision DecideByEvidence(const ThreadEvidence& thread) {
  if (thread.role == "gloo") return {LaneRole::kCommunication, "thread of the backend"};
  if (thread.role == "loader") return {LaneRole::kLoader, "loader worker"};
  if (thread.backward_functions > 0) return {LaneRole::kCompute, "ran backward functions"};
  if (thread.optimizer_steps > 0) return {LaneRole::kCompute, "ran the optimizer"};
  if (thread.training_marks > 0) return {LaneRole::kCompute, "marked steps or phases"};
  if (thread.collectives_run > 0) return {LaneRole::kCommunication, "ran collectives of others"};
  if (thread.data_phases > 0) return {LaneRole::kLoader, "loaded batches"};
  return {LaneRole::kOther, "no training work seen"};
}

void FallBack(std::span<const ThreadEvidence> threads, std::vector<LaneDecision>& decisions) {
  const ThreadEvidence* best = nullptr;
  for (size_t i = 0; i < threads.size(); ++i) {
    if (decisions[i].role != LaneRole::kOther || threads[i].operators == 0) continue;
    const bool is_main = threads[i].role == "main";
    const bool best_is_main = best != nullptr && best->role == "main";
    if (best == nullptr || (is_main && !best_is_main) ||
        (is_main == best_is_main && threads[i].operator_ns > best->operator_ns)) {
      best = &threads[i];
    }
  }
  if (best == nullptr) return;
  decisions[static_cast<size_t>(best - threads.data())] = {
      LaneRole::kCompute, best->role == "main" ? "main thread; no training marks were seen"
                                               : "most operator time; no training marks were seen"};
}

}  // namespace

const char* ToString(LaneRole role) {
  switch (role) {
    case LaneRole::kCompute:
      return "compute";
    case LaneRole::kCommunication:
      return "communication";
    case LaneRole::kLoader:
      return "loader";
    case LaneRole::kOther:
      break;
  }
  return "other";
}

std::vector<LaneDecision> DecideLanes(std::span<const ThreadEvidence> threads) {
  std::vector<LaneDecision> decisions;
  for (const ThreadEvidence& thread : threads) decisions.push_back(DecideByEvidence(thread));
  if (std::none_of(decisions.begin(), decisions.end(),
                   [](const LaneDecision& d) { return d.role == LaneRole::kCompute; })) {
    FallBack(threads, decisions);
  }
  return decisions;
}

}  // namespace tutti::analyzer
