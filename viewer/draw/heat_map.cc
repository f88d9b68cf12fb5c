// Rank × step.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

int64_t FigureOf(const schema::StepBreakdownRow& row, int figure) {
  return figure == 0 ? row.step_ns : PartsOf(row)[static_cast<size_t>(figure - 1)];
}

}  // namespace

void HeatMap::Draw(DrawContext& context) {
  State& state = context.state;
  const RunSummary& summary = state.summary();
  if (summary.breakdowns.empty()) {
    Text("This run has no steps.");
    return;
  }
  ImGui::SetNextItemWidth(160 * context.scale);
  const char* shown = figure_ == 0 ? "step time" : kStepParts[static_cast<size_t>(figure_ - 1)];
  if (ImGui::BeginCombo("##figure", shown)) {
    for (int i = 0; i <= static_cast<int>(kStepParts.size()); ++i) {
      const char* name = i == 0 ? "step time" : kStepParts[static_cast<size_t>(i - 1)];
      if (ImGui::Selectable(name, i == figure_)) figure_ = i;
    }
    ImGui::EndCombo();
  }
  // Without the fiftieth part at either end, which may lie far out, and up to three usual ones: a
  // first step, a pause.
  std::vector<int64_t> sorted;
  for (const schema::StepBreakdownRow& row : summary.breakdowns)
    sorted.push_back(FigureOf(row, figure_));
  std::sort(sorted.begin(), sorted.end());
  const int64_t least = sorted[sorted.size() / 50];
  const int64_t usual = sorted[sorted.size() / 2];
  const int64_t last = sorted[sorted.size() - 1 - sorted.size() / 50];
  const int64_t most = usual > 0 ? std::min(last, 3 * usual) : last;
  ImGui::SameLine();
  Text("rank by step, " + FormatNs(least) + " (dark) to " + FormatNs(most) + " (bright" +
       (most < last ? " and above" : "") + "); a click goes there");
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float label_width = 60 * context.scale;
  const auto ranks = static_cast<float>(summary.ranks.size());
  const auto steps = static_cast<float>(std::max<size_t>(1, summary.steps.size()));
  const float cell_width = std::max(1.0F, (room.x - label_width) / steps);
  const float cell_height = std::clamp((room.y - 4) / ranks, 2.0F, 22 * context.scale);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("cells", {std::max(8.0F, room.x), std::max(8.0F, cell_height * ranks)});
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const schema::StepBreakdownRow& row : summary.breakdowns) {
    const auto slot = summary.SlotOf(row.rank);
    if (!slot) continue;
    const double share = most == least ? 0
                                       : static_cast<double>(FigureOf(row, figure_) - least) /
                                             static_cast<double>(most - least);
    const float x = at.x + label_width + cell_width * static_cast<float>(row.step);
    const float y = at.y + cell_height * static_cast<float>(*slot);
    const float gap = cell_width > 4 ? 1.0F : 0.0F;
    list->AddRectFilled({x, y}, {x + cell_width - gap, y + cell_height - (cell_height > 4 ? 1 : 0)},
                        HeatColor(static_cast<float>(share)));
  }
  // As many labels as there is room for.
  const auto every = static_cast<size_t>(std::ceil(ImGui::GetFontSize() / cell_height));
  for (size_t slot = 0; slot < summary.ranks.size(); slot += every) {
    const std::string label = summary.RankName(summary.ranks[slot].rank);
    list->AddText({at.x, at.y + cell_height * static_cast<float>(slot)}, context.theme->dim_text,
                  label.c_str());
  }
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetMousePos();
  const auto step = static_cast<int64_t>((mouse.x - at.x - label_width) / cell_width);
  const auto slot = static_cast<size_t>(std::max(0.0F, (mouse.y - at.y) / cell_height));
  if (mouse.x < at.x + label_width || slot >= summary.ranks.size()) return;
  const int64_t rank = summary.ranks[slot].rank;
  const schema::StepBreakdownRow* row = summary.FindBreakdown(rank, step);
  if (row == nullptr) return;
  if (ImGui::BeginTooltip()) {
    Text(summary.RankName(rank) + ", step " +
         std::to_string(summary.steps[static_cast<size_t>(step)].number) + ": " +
         FormatNs(row->step_ns));
    const auto parts = PartsOf(*row);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] > 0) Text(std::string(kStepParts[i]) + "  " + FormatNs(parts[i]));
    }
    ImGui::EndTooltip();
  }
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) state.GoToStep(step, rank);
}

}  // namespace tutti::viewer
