// What a state's user does to the order of the rows: rows that are dragged, ranks by kind of
// parallelism.
#include <algorithm>
#include <set>

#include "viewer/app/state.h"

namespace tutti::viewer {
namespace {

std::string LabelOf(const std::string& kind, const std::vector<int64_t>& ranks) {
  constexpr size_t kMostNamed = 6;
  std::string label = kind + (ranks.size() == 1 ? "  rank" : "  ranks");
  for (size_t i = 0; i < std::min(ranks.size(), kMostNamed); ++i) {
    label += (i == 0 ? " " : ", ") + std::to_string(ranks[i]);
  }
  if (ranks.size() > kMostNamed) {
    label += " and " + std::to_string(ranks.size() - kMostNamed) + " more";
  }
  return label;
}

std::string NoteOf(const PipelineStage& stage) {
  std::string note = "stage " + std::to_string(stage.stage);
  if (stage.step_ns <= 0) return note;
  const int64_t percent = (100 * stage.bubble_ns + stage.step_ns / 2) / stage.step_ns;
  return note + ", bubble " + std::to_string(percent) + " %";
}

}  // namespace

void State::MoveRow(const std::string& key, const std::string& before) {
  if (key == before) return;
  choices_.moves.push_back({key, before});
  InvalidateRows();
}

void State::ResetOrder() {
  choices_.moves.clear();
  InvalidateRows();
}

void State::FoldByNextParallelism() {
  if (!parallelism_.has_value()) {
    auto read = ReadParallelism(summary());
    if (read.ok()) {
      parallelism_ = std::move(*read);
    } else {
      message = read.status().message();
      return;
    }
  }
  choices_.groups.clear();
  choices_.rank_notes.clear();
  scroll_y_ = 0;
  InvalidateRows();
  if (parallelism_->kinds.empty() || summary().has_two_runs()) {
    message = "No group of ranks is known to be pipeline, tensor, data or expert parallel";
    return;
  }
  folding_ = (folding_ + 1) % (parallelism_->kinds.size() + 1);
  if (folding_ == 0) return;
  const ParallelKind& kind = parallelism_->kinds[folding_ - 1];
  std::set<uint32_t> in_none;
  for (uint32_t slot = 0; slot < summary().ranks.size(); ++slot) in_none.insert(slot);
  for (const std::vector<int64_t>& ranks : kind.groups) {
    RankGroup group{LabelOf(kind.name, ranks), {}};
    for (const int64_t rank : ranks) {
      const std::optional<size_t> slot = summary().SlotOf(rank);
      if (!slot.has_value()) continue;
      group.slots.push_back(static_cast<uint32_t>(*slot));
      in_none.erase(static_cast<uint32_t>(*slot));
    }
    if (!group.slots.empty()) choices_.groups.push_back(std::move(group));
  }
  if (!in_none.empty())
    choices_.groups.push_back({"no " + kind.name, {in_none.begin(), in_none.end()}});
  for (const auto& [rank, stage] : parallelism_->stages) {
    const std::optional<size_t> slot = summary().SlotOf(rank);
    if (slot.has_value()) choices_.rank_notes[static_cast<uint32_t>(*slot)] = NoteOf(stage);
  }
}

}  // namespace tutti::viewer
