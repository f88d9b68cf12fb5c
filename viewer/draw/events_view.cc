// All names, and a histogram of one.
#include <imgui.h>
#include <imgui_stdlib.h>
#include <implot.h>

#include <algorithm>
#include <cctype>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

constexpr ImGuiTableFlags kTable = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                   ImGuiTableFlags_ScrollX | ImGuiTableFlags_BordersInnerV |
                                   ImGuiTableFlags_Resizable;

}  // namespace

void EventsByName::Refresh(DrawContext& context) {
  State& state = context.state;
  if (loaded_ == state.session().loaded()) return;
  loaded_ = state.session().loaded();
  totals_ = SumRange(state.ranks(), INT64_MIN / 2, INT64_MAX / 2,
                     [](const EventRef&, const Track&) { return true; });
}

void EventsByName::DrawHistogram(DrawContext& context) {
  if (chosen_ >= totals_.names.size()) return;
  State& state = context.state;
  Event event;
  event.name = totals_.names[chosen_].name;
  // The source that most events of the name come from is not kept: the first that has any.
  const NameDurations* durations = nullptr;
  for (int source = 0; source <= static_cast<int>(Source::kDataWait); ++source) {
    event.source = static_cast<Source>(source);
    const NameDurations& candidate = state.DurationsOf(event);
    if (durations == nullptr || candidate.sorted_ns.size() > durations->sorted_ns.size()) {
      durations = &candidate;
    }
  }
  if (durations == nullptr || durations->sorted_ns.empty()) return;
  Text(ShortName(state.session().names().Text(event.name)));
  Text("p50 " + FormatNs(durations->Quantile(0.5)) + "  p90 " + FormatNs(durations->Quantile(0.9)) +
       "  p99 " + FormatNs(durations->Quantile(0.99)) + "  p99.9 " +
       FormatNs(durations->Quantile(0.999)));
  std::vector<double> micros;
  micros.reserve(durations->sorted_ns.size());
  for (const int64_t ns : durations->sorted_ns) micros.push_back(static_cast<double>(ns) / 1e3);
  if (!ImPlot::BeginPlot("##histogram", ImVec2(-1, -1), ImPlotFlags_NoLegend | ImPlotFlags_NoMenus))
    return;
  ImPlot::SetupAxes("µs", "events", ImPlotAxisFlags_AutoFit, ImPlotAxisFlags_AutoFit);
  ImPlot::PlotHistogram("durations", micros.data(), static_cast<int>(micros.size()), 60);
  ImPlot::EndPlot();
}

void EventsByName::Draw(DrawContext& context) {
  State& state = context.state;
  Refresh(context);
  ImGui::SetNextItemWidth(260 * context.scale);
  ImGui::InputTextWithHint("##names", "part of a name", &filter_);
  ImGui::SameLine();
  Text(FormatCount(totals_.count) + " events of " +
       FormatCount(static_cast<int64_t>(totals_.names.size())) + " names on all ranks");
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::BeginChild("names", {chosen_ < totals_.names.size() ? width * 0.6F : width, 0});
  if (ImGui::BeginTable("events", 5, kTable | ImGuiTableFlags_Sortable)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("count", ImGuiTableColumnFlags_PreferSortDescending);
    ImGui::TableSetupColumn(
        "total", ImGuiTableColumnFlags_PreferSortDescending | ImGuiTableColumnFlags_DefaultSort);
    ImGui::TableSetupColumn("mean", ImGuiTableColumnFlags_PreferSortDescending);
    ImGui::TableSetupColumn("longest", ImGuiTableColumnFlags_PreferSortDescending);
    ImGui::TableHeadersRow();
    ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
    if (specs != nullptr && specs->SpecsDirty && specs->SpecsCount > 0) {
      const ImGuiTableColumnSortSpecs& spec = specs->Specs[0];
      const auto value = [&](const NameTotal& total) -> double {
        switch (spec.ColumnIndex) {
          case 1:
            return static_cast<double>(total.count);
          case 3:
            return static_cast<double>(total.total_ns) / static_cast<double>(total.count);
          case 4:
            return static_cast<double>(total.longest_ns);
          default:
            return static_cast<double>(total.total_ns);
        }
      };
      const bool up = spec.SortDirection == ImGuiSortDirection_Ascending;
      std::stable_sort(totals_.names.begin(), totals_.names.end(),
                       [&](const auto& a, const auto& b) {
                         if (spec.ColumnIndex == 0) {
                           const auto left = state.session().names().Text(a.name);
                           const auto right = state.session().names().Text(b.name);
                           return up ? left < right : right < left;
                         }
                         return up ? value(a) < value(b) : value(a) > value(b);
                       });
      specs->SpecsDirty = false;
      chosen_ = SIZE_MAX;
    }
    std::vector<size_t> shown;
    for (size_t i = 0; i < totals_.names.size(); ++i) {
      const std::string_view name = state.session().names().Text(totals_.names[i].name);
      const auto same = [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
      };
      if (filter_.empty() || std::search(name.begin(), name.end(), filter_.begin(), filter_.end(),
                                         same) != name.end()) {
        shown.push_back(i);
      }
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(shown.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const size_t place = shown[static_cast<size_t>(i)];
        const NameTotal& total = totals_.names[place];
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::PushID(i);
        const std::string name = ShortName(state.session().names().Text(total.name));
        if (ImGui::Selectable(name.c_str(), place == chosen_,
                              ImGuiSelectableFlags_SpanAllColumns)) {
          chosen_ = place;
        }
        ImGui::PopID();
        for (const std::string& text :
             {FormatCount(total.count), FormatNs(total.total_ns),
              FormatNs(total.total_ns / std::max<int64_t>(1, total.count)),
              FormatNs(total.longest_ns)}) {
          ImGui::TableNextColumn();
          Text(text);
        }
      }
    }
    ImGui::EndTable();
  }
  ImGui::EndChild();
  if (chosen_ >= totals_.names.size()) return;
  ImGui::SameLine();
  ImGui::BeginChild("histogram");
  DrawHistogram(context);
  ImGui::EndChild();
}

}  // namespace tutti::viewer
