// Marks with what the user wrote about them, and views by their names.
#include <imgui.h>
#include <imgui_stdlib.h>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {

void NotesPanel::DrawMarks(DrawContext& context) {
  State& state = context.state;
  ImGui::SeparatorText("marks");
  if (state.marks.empty()) DimWrapped(context, "M sets one, Shift+M one with a text.");
  std::optional<size_t> gone;
  for (size_t i = 0; i < state.marks.size(); ++i) {
    Mark& mark = state.marks[i];
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::SmallButton("x")) gone = i;
    ImGui::SameLine();
    const std::string time = FormatNs(mark.time_ns - state.summary().begin_ns);
    if (ImGui::Button((time + "###time").c_str(), {96 * context.scale, 0})) {
      const int64_t half = state.viewport().span_ns() / 2;
      state.Show(mark.time_ns - half, mark.time_ns + half);
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(-1);
    if (state.edited_mark == i) {
      ImGui::SetKeyboardFocusHere();
      state.edited_mark.reset();
    }
    ImGui::InputTextWithHint("##text", "what it is", &mark.text);
    ImGui::PopID();
  }
  if (gone.has_value()) state.marks.erase(state.marks.begin() + static_cast<std::ptrdiff_t>(*gone));
}

void NotesPanel::DrawViews(DrawContext& context) {
  State& state = context.state;
  ImGui::SeparatorText("views");
  ImGui::SetNextItemWidth(-80 * context.scale);
  const bool is_entered = ImGui::InputTextWithHint("##name", "name of what is on screen", &name_,
                                                   ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  if (ImGui::Button("Keep") || is_entered) {
    state.KeepView(name_);
    name_.clear();
  }
  std::optional<size_t> gone;
  std::optional<size_t> wanted;
  for (size_t i = 0; i < state.views.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::SmallButton("x")) gone = i;
    ImGui::SameLine();
    const NamedView& view = state.views[i];
    const std::string label = view.name + "  " + FormatNs(view.end_ns - view.begin_ns) + " from " +
                              FormatNs(view.begin_ns - state.summary().begin_ns) + "###view";
    if (ImGui::Selectable(label.c_str())) wanted = i;
    ImGui::PopID();
  }
  if (wanted.has_value()) state.ShowView(NamedView(state.views[*wanted]));
  if (gone.has_value()) state.views.erase(state.views.begin() + static_cast<std::ptrdiff_t>(*gone));
}

void NotesPanel::Draw(DrawContext& context) {
  const float width = ImGui::GetContentRegionAvail().x / 2;
  if (ImGui::BeginChild("marks", {width - 8, 0})) DrawMarks(context);
  ImGui::EndChild();
  ImGui::SameLine();
  if (ImGui::BeginChild("views", {0, 0})) DrawViews(context);
  ImGui::EndChild();
}

}  // namespace tutti::viewer
