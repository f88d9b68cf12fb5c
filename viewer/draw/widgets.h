// Small pieces that panels share.
#pragma once

#include <imgui.h>

#include <functional>
#include <string>

#include "viewer/draw/context.h"
#include "viewer/model/category.h"
#include "viewer/scene/csv.h"

namespace tutti::viewer {

inline constexpr ImGuiTableFlags kTableFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                               ImGuiTableFlags_BordersInnerV |
                                               ImGuiTableFlags_Resizable;

void Text(const std::string& text);
void RightText(const std::string& text);  // at the right of its cell
void Dim(const DrawContext& context, const std::string& text);
void DimWrapped(const DrawContext& context, const std::string& text);
// To be clicked, on as many lines as it needs. Once below an id.
bool WrappedSelectable(const std::string& text);
// A small bar in the category's colour before what comes next.
void Chip(Category category);
// Copies the table that `make` gives, when it is clicked.
void CsvButton(const std::function<Csv()>& make);

}  // namespace tutti::viewer
