#include "viewer/draw/panels.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "viewer/draw/tooltip.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"
#include "viewer/scene/row_filter.h"

namespace tutti::viewer {
namespace {

void DrawFinding(DrawContext& context, size_t index) {
  State& state = context.state;
  const Finding& finding = state.summary().findings[index];
  ImGui::PushID(static_cast<int>(index));
  const bool is_current = state.finding == index;
  if (ImGui::Selectable(finding.row.kind.c_str(), is_current)) state.GoToFinding(index, 0);
  if (finding.row.cost_ns) {
    ImGui::TextWrapped("%s", FormatSaving(*finding.row.cost_ns, finding.row.share.value_or(0),
                                          finding.row.replayed_ns)
                                 .c_str());
    ImGui::SetItemTooltip("%s",
                          "saves: by a replay of the run without its cause\n"
                          "at most, up to: if all of the time that it is seen in were saved");
  }
  DimWrapped(context, finding.row.title);
  if (is_current) {
    ImGui::TextWrapped("%s", finding.row.advice.c_str());
    for (size_t i = 0; i < finding.evidence.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      std::string label = "> ";
      if (finding.evidence[i].rank)
        label += state.summary().RankName(*finding.evidence[i].rank) + ": ";
      label += finding.evidence[i].note;
      if (WrappedSelectable(label)) state.GoToFinding(index, i);
      ImGui::PopID();
    }
  }
  ImGui::Spacing();
  ImGui::PopID();
}

void DrawLinks(DrawContext& context) {
  State& state = context.state;
  const std::vector<Link>& links = state.links();
  if (links.empty()) return;
  ImGui::SeparatorText("belongs to it");
  std::optional<EventRef> wanted;
  for (size_t i = 0; i < links.size(); ++i) {
    const auto event = EventAt(state.ranks(), links[i].event);
    if (!event.has_value()) continue;
    ImGui::PushID(static_cast<int>(i));
    const std::string label = links[i].kind + ": " +
                              ShortName(state.session().names().Text(event->name)) + "  " +
                              FormatNs(event->end_ns - event->begin_ns);
    if (ImGui::Selectable(label.c_str())) wanted = links[i].event;
    ImGui::PopID();
  }
  if (wanted.has_value()) state.GoTo(*wanted);
}

// Issues of one name are one line; what each of them is stands in its tooltip.
void DrawIssues(DrawContext& context) {
  constexpr size_t kMostTold = 12;
  State& state = context.state;
  std::vector<std::pair<std::string, std::vector<const schema::DataIssueRow*>>> by_name;
  for (const schema::DataIssueRow& issue : state.summary().issues) {
    auto found = std::find_if(by_name.begin(), by_name.end(),
                              [&](const auto& entry) { return entry.first == issue.name; });
    if (found == by_name.end()) found = by_name.insert(found, {issue.name, {}});
    found->second.push_back(&issue);
  }
  for (const auto& [name, issues] : by_name) {
    const schema::DataIssueRow& first = *issues.front();
    int64_t count = 0;
    std::string more;
    for (size_t i = 0; i < issues.size(); ++i) {
      count += issues[i]->count;
      if (i == kMostTold) more += "and " + std::to_string(issues.size() - i) + " more\n";
      if (i >= kMostTold) continue;
      if (issues[i]->rank) more += state.summary().RankName(*issues[i]->rank) + ": ";
      more += issues[i]->detail + "\n";
    }
    const bool is_bad = first.severity == "data_loss" || first.severity == "error";
    ImGui::PushStyleColor(ImGuiCol_Text, is_bad ? context.theme->alarm : context.theme->text);
    ImGui::TextWrapped("%s  %s", name.c_str(), FormatCount(count).c_str());
    ImGui::PopStyleColor();
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s%s", more.c_str(), first.advice.c_str());
    if (first.begin_ns && first.end_ns && ImGui::IsItemClicked()) {
      state.Show(*first.begin_ns, *first.end_ns);
      state.SelectRange(*first.begin_ns, *first.end_ns);
    }
  }
}

}  // namespace

void DrawFindings(DrawContext& context) {
  State& state = context.state;
  const RunSummary& summary = state.summary();
  ImGui::SetNextItemWidth(-1);
  if (context.focus_filter) {
    ImGui::SetKeyboardFocusHere();
    context.focus_filter = false;
  }
  std::string filter = state.choices().filter;
  if (ImGui::InputTextWithHint("##filter", "filter rows (Ctrl+P)", &filter)) state.Filter(filter);
  ImGui::SetItemTooltip("part of a row's name; ranks:0-3,8; category:copy");
  ImGui::SeparatorText("findings");
  if (summary.findings.empty()) Dim(context, "none");
  for (size_t i = 0; i < summary.findings.size(); ++i) DrawFinding(context, i);
  ImGui::SeparatorText("limits of the data");
  if (summary.issues.empty()) Dim(context, "nothing was lost");
  DrawIssues(context);
  ImGui::SeparatorText("colours: a click filters");
  for (size_t i = 0; i < kCategories; ++i) {
    const auto category = static_cast<Category>(i);
    Chip(category);
    const std::string wanted = FilterFor(category);
    const bool is_wanted = filter == wanted;
    if (ImGui::Selectable(std::string(CategoryName(category)).c_str(), is_wanted)) {
      state.Filter(is_wanted ? "" : wanted);
    }
  }
}

void DrawDetails(DrawContext& context) {
  State& state = context.state;
  const auto event = state.selected_event();
  if (!event.has_value()) {
    DimWrapped(context,
               "Click an event. F zooms to it, N goes to the next of its name, . and , to "
               "its neighbours, Backspace back. ? shows all keys.");
    return;
  }
  const EventRef ref = *state.selected();
  const RunSummary& summary = state.summary();
  Chip(event->category);
  ImGui::PushFont(nullptr, ImGui::GetStyle().FontSizeBase * 1.15F);
  ImGui::TextWrapped("%s", ShortName(state.session().names().Text(event->name)).c_str());
  ImGui::PopFont();
  Text(FormatNs(event->end_ns - event->begin_ns) + (event->is_open ? ", not ended" : ""));
  ImGui::PushStyleColor(ImGuiCol_Text, context.theme->dim_text);
  ImGui::PushTextWrapPos(0);
  DrawComparison(context, ref, *event);
  if (event->source == Source::kCollective) DrawCollectiveFacts(context, ref, *event);
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
  if (ImGui::Button("Zoom")) state.ZoomToSelected();
  ImGui::SameLine();
  if (ImGui::Button("Previous")) state.SelectNextOfName(-1);
  ImGui::SameLine();
  if (ImGui::Button("Next")) state.SelectNextOfName(1);
  ImGui::SameLine();
  if (ImGui::Button("Range")) state.SelectRange(event->begin_ns, event->end_ns);
  DrawSlack(context, ref);
  const Details& details = state.details();
  ImGui::SeparatorText(details.table.c_str());
  if (ImGui::BeginTable("columns", 2)) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed,
                            std::min(108 * context.scale, ImGui::GetContentRegionAvail().x * 0.4F));
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
    const auto row = [&](const std::string& name, const std::string& value) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      Dim(context, name);
      ImGui::TableNextColumn();
      ImGui::PushTextWrapPos(0);
      Text(value);
      ImGui::PopTextWrapPos();
    };
    row("rank", summary.RankName(summary.ranks[ref.rank].rank));
    row("since begin", FormatNs(event->begin_ns - summary.begin_ns));
    for (const auto& [name, value] : details.columns) row(name, value);
    ImGui::EndTable();
  }
  DrawLinks(context);
}

}  // namespace tutti::viewer
