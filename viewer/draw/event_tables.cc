// Tables of events: what a range of time is spent on, what a search found.
#include <imgui.h>

#include <algorithm>
#include <map>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {

namespace {

// "on A rank 1: 34, on A rank 0: 2": which ranks have them.
std::string RanksOf(const State& state, const SearchResult& result) {
  std::map<uint32_t, int64_t> by_slot;
  for (const EventRef& hit : result.hits) ++by_slot[hit.rank];
  std::vector<std::pair<int64_t, uint32_t>> most;
  for (const auto& [slot, count] : by_slot) most.emplace_back(-count, slot);
  std::sort(most.begin(), most.end());
  std::string text = "where:";
  for (size_t i = 0; i < std::min<size_t>(most.size(), 8); ++i) {
    text += (i == 0 ? " " : ", ") + FormatCount(-most[i].first) + " on " +
            state.summary().RankName(state.summary().ranks[most[i].second].rank);
  }
  return text;
}

Csv HitsAsCsv(const State& state, const SearchResult& result) {
  Csv csv;
  csv.AddRow({"begin_ns", "duration_ns", "rank", "row", "name"});
  for (const EventRef& hit : result.hits) {
    const auto event = EventAt(state.ranks(), hit);
    if (!event.has_value()) continue;
    csv.AddRow({std::to_string(event->begin_ns), std::to_string(event->end_ns - event->begin_ns),
                state.summary().RankName(state.summary().ranks[hit.rank].rank),
                state.ranks()[hit.rank]->tracks[hit.track].label,
                std::string(state.session().names().Text(event->name))});
  }
  return csv;
}

}  // namespace

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
  ImGui::SameLine();
  CsvButton([&] {
    Csv csv;
    csv.AddRow({"name", "category", "count", "in_range_ns", "longest_ns"});
    for (const NameTotal& total : totals.names) {
      csv.AddRow({std::string(state.session().names().Text(total.name)),
                  std::string(CategoryName(total.category)), std::to_string(total.count),
                  std::to_string(total.total_ns), std::to_string(total.longest_ns)});
    }
    return csv;
  });
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
  if (search.durations) Dim(context, RanksOf(state, search.result));
  ImGui::SameLine();
  CsvButton([&] { return HitsAsCsv(state, search.result); });
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
