// A rank's steps below one another.
#include <imgui.h>

#include <algorithm>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"
#include "viewer/scene/multiples.h"

namespace tutti::viewer {
namespace {

void DrawBand(const StepBand& band, const ImVec2& at, float height, ImDrawList* list) {
  for (const BandMark& mark : band.band) {
    float y = at.y + height - 2;
    for (size_t i = 0; i < kCategories; ++i) {
      if (mark.share[i] == 0) continue;
      const float part = mark.share[i] * (height - 4);
      list->AddRectFilled({at.x + static_cast<float>(mark.x0), y - part},
                          {at.x + static_cast<float>(mark.x1), y},
                          ColorOf(static_cast<Category>(i)));
      y -= part;
    }
  }
}

}  // namespace

void StepsPanel::Draw(DrawContext& context) {
  State& state = context.state;
  const RunSummary& summary = state.summary();
  if (summary.windows.empty()) return Text("This run has no steps.");
  ImGui::SetNextItemWidth(130 * context.scale);
  slot_ = std::min(slot_, summary.ranks.size() - 1);
  if (ImGui::BeginCombo("##rank", summary.RankName(summary.ranks[slot_].rank).c_str())) {
    for (size_t slot = 0; slot < summary.ranks.size(); ++slot) {
      const std::string name = summary.RankName(summary.ranks[slot].rank);
      if (ImGui::Selectable(name.c_str(), slot == slot_)) slot_ = slot;
    }
    ImGui::EndCombo();
  }
  ImGui::SameLine();
  Text("each of its steps from its begin on, " + FormatNs(StepAxisNs(summary)) +
       " wide; a click goes there");
  const int64_t rank = summary.ranks[slot_].rank;
  const auto count =
      std::count_if(summary.windows.begin(), summary.windows.end(),
                    [rank](const schema::StepWindowRow& window) { return window.rank == rank; });
  ImGui::BeginChild("multiples");
  const float label_width = 150 * context.scale;
  const float height = 20 * context.scale;
  const float width = std::max(40.0F, ImGui::GetContentRegionAvail().x - label_width);
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(count), height + ImGui::GetStyle().ItemSpacing.y);
  while (clipper.Step()) {
    const auto first = static_cast<size_t>(clipper.DisplayStart);
    const auto shown = static_cast<size_t>(clipper.DisplayEnd - clipper.DisplayStart);
    for (const StepBand& band :
         StepBands(summary, state.session().Ranks(), static_cast<uint32_t>(slot_), first, shown,
                   static_cast<int>(width))) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      ImGui::PushID(static_cast<int>(band.step));
      if (ImGui::InvisibleButton("step", {label_width + width, height})) {
        state.GoToStep(band.step, rank);
      }
      ImGui::PopID();
      if (ImGui::IsItemHovered()) {
        list->AddRectFilled(at, {at.x + label_width + width, at.y + height}, context.theme->group);
      }
      const int64_t number = summary.steps[static_cast<size_t>(band.step)].number;
      const std::string label = "step " + std::to_string(number) + "  " + FormatNs(band.length_ns);
      list->AddText({at.x + 4, at.y + 2}, context.theme->text, label.c_str());
      const float end_x = at.x + label_width + std::min(band.end_x, width);
      list->AddLine({end_x, at.y}, {end_x, at.y + height}, context.theme->step_line, 1.5F);
      DrawBand(band, {at.x + label_width, at.y}, height, list);
    }
  }
  ImGui::EndChild();
}

}  // namespace tutti::viewer
