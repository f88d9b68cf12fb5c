#include "viewer/draw/widgets.h"

#include "viewer/draw/theme.h"

namespace tutti::viewer {

void Text(const std::string& text) { ImGui::TextUnformatted(text.c_str()); }

void RightText(const std::string& text) {
  const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
  if (room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
  Text(text);
}

void Dim(const DrawContext& context, const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, context.theme->dim_text);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

void DimWrapped(const DrawContext& context, const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, context.theme->dim_text);
  ImGui::TextWrapped("%s", text.c_str());
  ImGui::PopStyleColor();
}

bool WrappedSelectable(const std::string& text) {
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 size = ImGui::CalcTextSize(text.c_str(), nullptr, false, width);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool is_clicked = ImGui::Selectable("##wrapped", false, 0, {0, size.y});
  ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(), at,
                                      ImGui::GetColorU32(ImGuiCol_Text), text.c_str(), nullptr,
                                      width);
  return is_clicked;
}

void Chip(Category category) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = ImGui::GetFontSize();
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + 2}, {at.x + 6, at.y + size - 1},
                                            ColorOf(category));
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + 11);
}

void CsvButton(const std::function<Csv()>& make) {
  if (ImGui::Button("Copy as CSV")) ImGui::SetClipboardText(make().text().c_str());
}

}  // namespace tutti::viewer
