// Who is behind: the last collective of each rank in each group.
#include <imgui.h>

#include <algorithm>

#include "viewer/draw/panels.h"
#include "viewer/model/progress.h"

namespace tutti::viewer {
namespace {

void Cell(const std::string& text, ImU32 color) {
  ImGui::TableNextColumn();
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

std::string NumberOrDash(const std::optional<int64_t>& number) {
  return number.has_value() ? std::to_string(*number) : "-";
}

}  // namespace

void DrawHang(DrawContext& context) {
  State& state = context.state;
  const std::vector<GroupProgress> groups = ProgressOf(state.summary());
  if (groups.empty()) {
    ImGui::TextUnformatted("No collective of this run has a sequence number.");
    return;
  }
  constexpr ImGuiTableFlags kTable =
      ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerV;
  if (!ImGui::BeginTable("hang", 6, kTable)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const char* name : {"group", "rank", "called", "begun", "done", "behind"}) {
    ImGui::TableSetupColumn(name);
  }
  ImGui::TableHeadersRow();
  int id = 0;
  for (const GroupProgress& group : groups) {
    for (const RankProgress& rank : group.ranks) {
      const ImU32 color = rank.behind > 0 ? context.theme->alarm : context.theme->text;
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(id++);
      if (ImGui::Selectable(group.label.c_str(), false, ImGuiSelectableFlags_SpanAllColumns)) {
        state.GoToCollective(rank.last_collective, rank.rank);
      }
      ImGui::PopID();
      Cell(state.summary().RankName(rank.rank), color);
      Cell(NumberOrDash(rank.called), color);
      Cell(NumberOrDash(rank.begun), color);
      Cell(NumberOrDash(rank.done), color);
      Cell(rank.behind > 0 ? std::to_string(rank.behind) + " behind" : "", color);
    }
  }
  ImGui::EndTable();
}

}  // namespace tutti::viewer
