// All names, or events grouped otherwise, and a histogram of one name.
#include <imgui.h>
#include <imgui_stdlib.h>
#include <implot.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"
#include "viewer/scene/row_filter.h"

namespace tutti::viewer {
namespace {

int64_t MeanOf(const GroupTotal& total) {
  return total.total_ns / std::max<int64_t>(1, total.count);
}

bool IsLess(const GroupTotal& a, const GroupTotal& b, int column) {
  switch (column) {
    case 0:
      return a.label < b.label;
    case 1:
      return a.count < b.count;
    case 3:
      return MeanOf(a) < MeanOf(b);
    case 4:
      return a.longest_ns < b.longest_ns;
    default:
      return a.total_ns < b.total_ns;
  }
}

// Mean, standard deviation and that as a share of the mean.
std::string SpreadOf(const std::vector<int64_t>& durations_ns) {
  double sum = 0;
  for (const int64_t ns : durations_ns) sum += static_cast<double>(ns);
  const double mean = sum / static_cast<double>(durations_ns.size());
  double squares = 0;
  for (const int64_t ns : durations_ns) {
    squares += (static_cast<double>(ns) - mean) * (static_cast<double>(ns) - mean);
  }
  const double deviation = std::sqrt(squares / static_cast<double>(durations_ns.size()));
  std::array<char, 32> share{};
  std::snprintf(share.data(), share.size(), "%.0f %%", mean > 0 ? 100 * deviation / mean : 0);
  return "mean " + FormatNs(static_cast<int64_t>(mean)) + "  deviation " +
         FormatNs(static_cast<int64_t>(deviation)) + " (" + share.data() + ")";
}

}  // namespace

void EventsPanel::Refresh(DrawContext& context) {
  State& state = context.state;
  const Key wanted{state.session().loaded(), only_range_ ? state.range() : std::nullopt, by_};
  if (made_.Take(&totals_)) {
    has_ = making_;
    chosen_.reset();
    is_sorted_ = false;
  }
  if (made_.is_busy() || has_ == wanted) return;
  making_ = wanted;
  const TimeRange range = wanted.range.value_or(TimeRange{INT64_MIN / 2, INT64_MAX / 2});
  // The session outlives the panel.
  made_.Start([session = &state.session(), ranks = state.ranks(), range, by = by_] {
    return GroupEvents(session->summary(), ranks, session->names(), range.begin_ns, range.end_ns,
                       by);
  });
}

void EventsPanel::Sort() {
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || specs->SpecsCount == 0 || (is_sorted_ && !specs->SpecsDirty)) return;
  const ImGuiTableColumnSortSpecs& spec = specs->Specs[0];
  const bool up = spec.SortDirection == ImGuiSortDirection_Ascending;
  std::stable_sort(totals_.begin(), totals_.end(), [&](const GroupTotal& a, const GroupTotal& b) {
    return up ? IsLess(a, b, spec.ColumnIndex) : IsLess(b, a, spec.ColumnIndex);
  });
  specs->SpecsDirty = false;
  is_sorted_ = true;
}

Csv EventsPanel::AsCsv() const {
  Csv csv;
  csv.AddRow({NameOf(has_.by), "category", "count", "total_ns", "mean_ns", "longest_ns"});
  for (const size_t place : shown_) {
    const GroupTotal& total = totals_[place];
    csv.AddRow({total.label, std::string(CategoryName(total.category)), std::to_string(total.count),
                std::to_string(total.total_ns), std::to_string(MeanOf(total)),
                std::to_string(total.longest_ns)});
  }
  return csv;
}

void EventsPanel::DrawTable(DrawContext& context) {
  if (!ImGui::BeginTable("events", 5,
                         kTableFlags | ImGuiTableFlags_ScrollX | ImGuiTableFlags_Sortable)) {
    return;
  }
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn(NameOf(by_), ImGuiTableColumnFlags_WidthStretch);
  for (const char* name : {"count", "total", "mean", "longest"}) {
    const bool is_first = std::string_view(name) == "total";
    ImGui::TableSetupColumn(name,
                            ImGuiTableColumnFlags_WidthFixed |
                                ImGuiTableColumnFlags_PreferSortDescending |
                                (is_first ? ImGuiTableColumnFlags_DefaultSort : 0),
                            90 * context.scale);
  }
  ImGui::TableHeadersRow();
  Sort();
  shown_.clear();
  for (size_t i = 0; i < totals_.size(); ++i) {
    if (filter_.empty() || ContainsIgnoringCase(totals_[i].label, filter_)) shown_.push_back(i);
  }
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(shown_.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const GroupTotal& total = totals_[shown_[static_cast<size_t>(i)]];
      const bool is_name = has_.by == GroupBy::kName;
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(i);
      if (is_name || has_.by == GroupBy::kCategory) Chip(total.category);
      const std::string label = is_name ? ShortName(total.label) : total.label;
      if (ImGui::Selectable(label.c_str(), is_name && chosen_ == total.name,
                            ImGuiSelectableFlags_SpanAllColumns) &&
          is_name) {
        chosen_ = total.name;
      }
      ImGui::PopID();
      for (const std::string& text : {FormatCount(total.count), FormatNs(total.total_ns),
                                      FormatNs(MeanOf(total)), FormatNs(total.longest_ns)}) {
        ImGui::TableNextColumn();
        RightText(text);
      }
    }
  }
  ImGui::EndTable();
}

// A drag over the histogram finds the events of these durations: where the outliers live.
void EventsPanel::HandleBrush(DrawContext& context) {
  if (ImPlot::IsPlotHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    brush_from_ = ImPlot::GetPlotMousePos().x;
  }
  if (!brush_from_) return;
  const double to = ImPlot::GetPlotMousePos().x;
  const ImVec2 corner = ImPlot::GetPlotPos();
  const float height = ImPlot::GetPlotSize().y;
  const float x0 = ImPlot::PlotToPixels(std::min(*brush_from_, to), 0).x;
  const float x1 = ImPlot::PlotToPixels(std::max(*brush_from_, to), 0).x;
  ImPlot::GetPlotDrawList()->AddRectFilled({x0, corner.y}, {x1, corner.y + height},
                                           WithAlpha(context.theme->accent, 0.25F));
  if (ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  const auto ns = [](double micros) { return static_cast<int64_t>(std::llround(micros * 1e3)); };
  if (x1 - x0 > 3) {
    context.state.SearchDurations(*chosen_, ns(std::min(*brush_from_, to)),
                                  ns(std::max(*brush_from_, to)));
  }
  brush_from_.reset();
}

void EventsPanel::DrawHistogram(DrawContext& context) {
  State& state = context.state;
  Event event;
  event.name = *chosen_;
  // The source that most events of the name come from.
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
  Text(SpreadOf(durations->sorted_ns));
  Dim(context, "drag over the bars to find these events");
  std::vector<double> micros;
  micros.reserve(durations->sorted_ns.size());
  for (const int64_t ns : durations->sorted_ns) micros.push_back(static_cast<double>(ns) / 1e3);
  if (!ImPlot::BeginPlot("##histogram", ImVec2(-1, -1),
                         ImPlotFlags_NoLegend | ImPlotFlags_NoMenus | ImPlotFlags_NoBoxSelect)) {
    return;
  }
  // Fixed, so that a drag is not a move of the plot.
  constexpr ImPlotAxisFlags kFlags = ImPlotAxisFlags_AutoFit;
  ImPlot::SetupAxes("µs", "events", kFlags, kFlags);
  ImPlot::PlotHistogram("durations", micros.data(), static_cast<int>(micros.size()), 60);
  HandleBrush(context);
  ImPlot::EndPlot();
}

void EventsPanel::Draw(DrawContext& context) {
  ImGui::SetNextItemWidth(110 * context.scale);
  if (ImGui::BeginCombo("##by", (std::string("by ") + NameOf(by_)).c_str())) {
    for (size_t i = 0; i < kGroupings; ++i) {
      const auto by = static_cast<GroupBy>(i);
      if (ImGui::Selectable((std::string("by ") + NameOf(by)).c_str(), by == by_)) by_ = by;
    }
    ImGui::EndCombo();
  }
  ImGui::SameLine();
  ImGui::SetNextItemWidth(220 * context.scale);
  ImGui::InputTextWithHint("##names", "part of a name", &filter_);
  ImGui::SameLine();
  ImGui::Checkbox("selected range only", &only_range_);
  Refresh(context);
  ImGui::SameLine();
  CsvButton([this] { return AsCsv(); });
  ImGui::SameLine();
  int64_t count = 0;
  for (const GroupTotal& total : totals_) count += total.count;
  Text(made_.is_busy() ? "adding up ..."
                       : FormatCount(count) + " events of all ranks in " +
                             FormatCount(static_cast<int64_t>(totals_.size())) + " groups");
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::BeginChild("names", {chosen_ ? width * 0.6F : width, 0});
  DrawTable(context);
  ImGui::EndChild();
  if (!chosen_) return;
  ImGui::SameLine();
  ImGui::BeginChild("histogram");
  DrawHistogram(context);
  ImGui::EndChild();
}

}  // namespace tutti::viewer
