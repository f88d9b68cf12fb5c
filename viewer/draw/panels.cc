#include "viewer/draw/panels.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "viewer/draw/tooltip.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

constexpr ImGuiTableFlags kTable = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                   ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_Resizable;

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

void Chip(Category category) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = ImGui::GetFontSize();
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + 2}, {at.x + 6, at.y + size - 1},
                                            ColorOf(category));
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + 11);
}

std::string Percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", share * 100);
  return text.data();
}

void DrawFinding(DrawContext& context, size_t index) {
  State& state = context.state;
  const Finding& finding = state.summary().findings[index];
  ImGui::PushID(static_cast<int>(index));
  const bool is_current = state.finding == index;
  std::string head = finding.row.kind;
  if (finding.row.cost_ns) head += "  " + FormatNs(*finding.row.cost_ns) + " a step";
  if (finding.row.share) head += "  " + Percent(*finding.row.share);
  if (ImGui::Selectable(head.c_str(), is_current)) state.GoToFinding(index, 0);
  DimWrapped(context, finding.row.title);
  if (is_current) {
    ImGui::TextWrapped("%s", finding.row.advice.c_str());
    for (size_t i = 0; i < finding.evidence.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      std::string label = "> ";
      if (finding.evidence[i].rank)
        label += "rank " + std::to_string(*finding.evidence[i].rank) + ": ";
      label += finding.evidence[i].note;
      if (ImGui::Selectable(label.c_str())) state.GoToFinding(index, i);
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
  ImGui::SeparatorText("findings");
  if (summary.findings.empty()) Dim(context, "none");
  for (size_t i = 0; i < summary.findings.size(); ++i) DrawFinding(context, i);
  ImGui::SeparatorText("limits of the data");
  if (summary.issues.empty()) Dim(context, "nothing was lost");
  for (const schema::DataIssueRow& issue : summary.issues) {
    const bool is_bad = issue.severity == "data_loss" || issue.severity == "error";
    std::string text = issue.name + "  " + FormatCount(issue.count);
    if (issue.rank) text += "  rank " + std::to_string(*issue.rank);
    ImGui::PushStyleColor(ImGuiCol_Text, is_bad ? context.theme->alarm : context.theme->text);
    ImGui::TextWrapped("%s", text.c_str());
    ImGui::PopStyleColor();
    if (ImGui::IsItemHovered()) {
      ImGui::SetTooltip("%s\n%s", issue.detail.c_str(), issue.advice.c_str());
    }
    if (issue.begin_ns && issue.end_ns && ImGui::IsItemClicked()) {
      state.Show(*issue.begin_ns, *issue.end_ns);
      state.SelectRange(*issue.begin_ns, *issue.end_ns);
    }
  }
  ImGui::SeparatorText("colours");
  for (size_t i = 0; i < kCategories; ++i) {
    const auto category = static_cast<Category>(i);
    Chip(category);
    Text(std::string(CategoryName(category)));
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
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, 108 * context.scale);
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
    row("rank", std::to_string(summary.ranks[ref.rank].rank));
    row("since begin", FormatNs(event->begin_ns - summary.begin_ns));
    for (const auto& [name, value] : details.columns) row(name, value);
    ImGui::EndTable();
  }
  DrawLinks(context);
}

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
  if (!ImGui::BeginTable("range", 5, kTable)) return;
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
  if (!ImGui::BeginTable("hits", 5, kTable)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("at", ImGuiTableColumnFlags_WidthFixed, 110 * context.scale);
  ImGui::TableSetupColumn("duration", ImGuiTableColumnFlags_WidthFixed, 90 * context.scale);
  ImGui::TableSetupColumn("rank", ImGuiTableColumnFlags_WidthFixed, 50 * context.scale);
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
      RightText(std::to_string(state.summary().ranks[ref.rank].rank));
      ImGui::TableNextColumn();
      Text(state.ranks()[ref.rank]->tracks[ref.track].label);
      ImGui::TableNextColumn();
      Text(ShortName(state.session().names().Text(event->name)));
    }
  }
  ImGui::EndTable();
  if (wanted.has_value()) state.GoTo(*wanted);
}

void DrawHelp(DrawContext& context) {
  State& state = context.state;
  const ImGuiViewport* screen = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(screen->GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  bool is_open = true;
  if (ImGui::Begin("Keys", &is_open,
                   ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoDocking |
                       ImGuiWindowFlags_NoSavedSettings)) {
    const char* group = "";
    int column = 0;
    if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) {
      ImGui::TableNextColumn();
      for (const Command& command : Commands()) {
        if (std::string_view(group) != command.group) {
          group = command.group;
          if (column++ == 1) ImGui::TableNextColumn();
          ImGui::SeparatorText(group);
        }
        if (*command.keys == 0) continue;
        ImGui::PushFont(context.fonts.mono, 0);
        ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(context.theme->dim_text), "%-16s",
                           command.keys);
        ImGui::PopFont();
        ImGui::SameLine();
        Text(command.title);
      }
      ImGui::EndTable();
    }
    ImGui::SeparatorText("Mouse");
    Text(
        "wheel: rows    Ctrl+wheel: zoom at the pointer    Shift+wheel: time    "
        "right drag or Shift+drag: move");
    Text(
        "left drag: select a range    middle drag: zoom to it    double-click: zoom to the event   "
        " "
        "right click: menu");
  }
  ImGui::End();
  if (!is_open) state.Shows(Panel::kHelp) = false;
}

void Palette::Draw(DrawContext& context) {
  State& state = context.state;
  if (!state.Shows(Panel::kPalette)) {
    was_open_ = false;
    return;
  }
  const ImGuiViewport* screen = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({screen->GetCenter().x, screen->Pos.y + 90 * context.scale},
                          ImGuiCond_Always, {0.5F, 0});
  ImGui::SetNextWindowSize({520 * context.scale, 0});
  ImGui::Begin("##palette", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoDocking |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize);
  if (!was_open_) {
    text_.clear();
    chosen_ = 0;
    ImGui::SetKeyboardFocusHere();
    was_open_ = true;
  }
  ImGui::SetNextItemWidth(-1);
  const bool is_entered = ImGui::InputTextWithHint("##command", "command, or RANK:STEP", &text_,
                                                   ImGuiInputTextFlags_EnterReturnsTrue);
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++chosen_;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) --chosen_;
  std::vector<const Command*> found;
  for (const Command& command : Commands()) {
    const auto same = [](unsigned char a, unsigned char b) {
      return std::tolower(a) == std::tolower(b);
    };
    const std::string_view title = command.title;
    if (std::search(title.begin(), title.end(), text_.begin(), text_.end(), same) != title.end()) {
      found.push_back(&command);
    }
  }
  chosen_ = std::clamp(chosen_, 0, std::max(0, static_cast<int>(found.size()) - 1));
  const Command* wanted = nullptr;
  for (size_t i = 0; i < std::min<size_t>(found.size(), 14); ++i) {
    if (ImGui::Selectable(found[i]->title, static_cast<int>(i) == chosen_)) wanted = found[i];
    ImGui::SameLine(ImGui::GetContentRegionAvail().x - 100 * context.scale);
    Dim(context, found[i]->keys);
  }
  ImGui::End();
  if (is_entered && !found.empty()) wanted = found[static_cast<size_t>(chosen_)];
  if (is_entered && found.empty()) {
    const Status status = state.GoToPlace(text_);
    state.message = status.ok() ? "" : status.message();
    state.Shows(Panel::kPalette) = false;
  }
  if (wanted == nullptr) return;
  state.Shows(Panel::kPalette) = false;
  wanted->run(state, Pointer());
}

}  // namespace tutti::viewer
