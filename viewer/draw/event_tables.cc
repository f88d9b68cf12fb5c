// Tables of events: what a range of time is spent on, what a search found.
#include <imgui.h>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {

void DrawRange(DrawContext& context) {
  State& state = context.state;
  if (!state.range().has_value()) {
    Dim(context, "Drag over the rows to select a range of time.");
    return;
  }
  const TimeRange range = *state.range();
  const RangeTotals& totals = state.range_totals();
  Text(FormatNs(range.end_ns - range.begin_ns) + " from " +
       FormatNs(range.begin_ns - state.summary().begin_ns) + ", " + FormatCount(totals.count) +
       " events of " + FormatCount(static_cast<int64_t>(totals.names.size())) +
       " names on all ranks");
  if (!ImGui::BeginTable("range", 5, kTableFlags)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
  for (const char* name : {"category", "count", "time in range", "longest"}) {
    ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_WidthFixed, 110 * context.scale);
  }
  ImGui::TableHeadersRow();
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(totals.names.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const NameTotal& total = totals.names[static_cast<size_t>(i)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      Chip(total.category);
      Text(ShortName(state.session().names().Text(total.name)));
      ImGui::TableNextColumn();
      Text(std::string(CategoryName(total.category)));
      ImGui::TableNextColumn();
      RightText(FormatCount(total.count));
      ImGui::TableNextColumn();
      RightText(FormatNs(total.total_ns));
      ImGui::TableNextColumn();
      RightText(FormatNs(total.longest_ns));
    }
  }
  ImGui::EndTable();
}

void DrawSearch(DrawContext& context) {
  State& state = context.state;
  const SearchState& search = state.search();
  if (search.text.empty()) {
    Dim(context, "Press / and type part of a name, or /a regular expression/.");
    return;
  }
  if (!search.error.empty()) {
    Text(search.error);
    return;
  }
  Text(FormatCount(search.result.total) + " events of " +
       FormatCount(static_cast<int64_t>(search.result.names.size())) + " names match \"" +
       search.text + "\"");
  if (!ImGui::BeginTable("hits", 5, kTableFlags)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("at", ImGuiTableColumnFlags_WidthFixed, 110 * context.scale);
  ImGui::TableSetupColumn("duration", ImGuiTableColumnFlags_WidthFixed, 90 * context.scale);
  ImGui::TableSetupColumn("rank", ImGuiTableColumnFlags_WidthFixed, 80 * context.scale);
  ImGui::TableSetupColumn("row", ImGuiTableColumnFlags_WidthFixed, 140 * context.scale);
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableHeadersRow();
  std::optional<EventRef> wanted;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(search.result.hits.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const EventRef ref = search.result.hits[static_cast<size_t>(i)];
      const auto event = EventAt(state.ranks(), ref);
      if (!event.has_value()) continue;
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(i);
      const std::string at = FormatNs(event->begin_ns - state.summary().begin_ns);
      if (ImGui::Selectable(at.c_str(), state.selected() == ref,
                            ImGuiSelectableFlags_SpanAllColumns)) {
        wanted = ref;
      }
      ImGui::PopID();
      ImGui::TableNextColumn();
      RightText(FormatNs(event->end_ns - event->begin_ns));
      ImGui::TableNextColumn();
      RightText(state.summary().RankName(state.summary().ranks[ref.rank].rank));
      ImGui::TableNextColumn();
      Text(state.ranks()[ref.rank]->tracks[ref.track].label);
      ImGui::TableNextColumn();
      Text(ShortName(state.session().names().Text(event->name)));
    }
  }
  ImGui::EndTable();
  if (wanted.has_value()) state.GoTo(*wanted);
}

}  // namespace tutti::viewer
