// Run B against run A: parts of a step, and names.
#include <imgui.h>

#include <algorithm>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

std::string Change(int64_t a_ns, int64_t b_ns) {
  return (b_ns > a_ns ? "+" : "") + FormatNs(b_ns - a_ns);
}

std::string Share(int64_t a_ns, int64_t b_ns) {
  if (a_ns == 0) return b_ns == 0 ? "" : "new";
  if (b_ns == 0) return "gone";
  return FormatShare(static_cast<double>(b_ns - a_ns) / static_cast<double>(a_ns));
}

// Both times and how they differ, in four columns.
void DeltaCells(int64_t a_ns, int64_t b_ns) {
  for (const std::string& text :
       {FormatNs(a_ns), FormatNs(b_ns), Change(a_ns, b_ns), Share(a_ns, b_ns)}) {
    ImGui::TableNextColumn();
    RightText(text);
  }
  const double share =
      static_cast<double>(b_ns - a_ns) / static_cast<double>(std::max<int64_t>(1, a_ns));
  if (std::abs(share) > 0.01) {
    ImGui::TableSetBgColor(ImGuiTableBgTarget_CellBg, WithAlpha(DeltaColor(share), 0.45F));
  }
}

}  // namespace

void ComparePanel::Refresh(DrawContext& context) {
  State& state = context.state;
  const size_t loaded = state.session().loaded();
  if (loaded_ == loaded && range_ == state.range()) return;
  loaded_ = loaded;
  range_ = state.range();
  const TimeRange range = range_.value_or(TimeRange{INT64_MIN / 2, INT64_MAX / 2});
  const RunSummary& summary = state.summary();
  const auto totals_of = [&](bool is_b) {
    return SumRange(state.ranks(), range.begin_ns, range.end_ns,
                    [&](const EventRef& ref, const Track& track) {
                      return summary.IsOfB(ref.rank) == is_b && track.kind != TrackKind::kSteps;
                    });
  };
  names_ = CompareNames(totals_of(false), totals_of(true));
}

void ComparePanel::DrawParts(DrawContext& context) {
  const StepComparison comparison = CompareSteps(context.state.summary());
  if (comparison.parts.empty()) return Text("The runs have no steps in common.");
  Text("mean of " + FormatCount(comparison.steps) + " steps that both have (each rank's counts)");
  if (!ImGui::BeginTable("parts", 5, kTableFlags)) return;
  ImGui::TableSetupColumn("part of a step", ImGuiTableColumnFlags_WidthStretch);
  for (const char* name : {"A", "B", "B - A", "change"}) {
    ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_WidthFixed, 76 * context.scale);
  }
  ImGui::TableHeadersRow();
  for (const PartDelta& part : comparison.parts) {
    if (part.a_ns == 0 && part.b_ns == 0) continue;
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    Text(part.part);
    DeltaCells(part.a_ns, part.b_ns);
  }
  ImGui::EndTable();
}

void ComparePanel::DrawNames(DrawContext& context) {
  State& state = context.state;
  Text(std::string(range_.has_value() ? "in the selected range" : "in the whole runs") +
       ", on all ranks; a click searches the name");
  ImGui::SameLine();
  CsvButton([&] {
    Csv csv;
    csv.AddRow({"name", "category", "a_count", "b_count", "a_ns", "b_ns"});
    for (const NameDelta& delta : names_) {
      csv.AddRow({std::string(state.session().names().Text(delta.name)),
                  std::string(CategoryName(delta.category)), std::to_string(delta.a_count),
                  std::to_string(delta.b_count), std::to_string(delta.a_ns),
                  std::to_string(delta.b_ns)});
    }
    return csv;
  });
  if (!ImGui::BeginTable("names", 7, kTableFlags)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
  for (const char* name : {"count A", "count B", "A", "B", "B - A", "change"}) {
    ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_WidthFixed, 76 * context.scale);
  }
  ImGui::TableHeadersRow();
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(names_.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const NameDelta& delta = names_[static_cast<size_t>(i)];
      const std::string name(state.session().names().Text(delta.name));
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(i);
      Chip(delta.category);
      if (ImGui::Selectable(ShortName(name).c_str(), false, ImGuiSelectableFlags_SpanAllColumns)) {
        state.Search(name);
      }
      ImGui::PopID();
      ImGui::TableNextColumn();
      RightText(FormatCount(delta.a_count));
      ImGui::TableNextColumn();
      RightText(FormatCount(delta.b_count));
      DeltaCells(delta.a_ns, delta.b_ns);
    }
  }
  ImGui::EndTable();
}

void ComparePanel::Draw(DrawContext& context) {
  if (!context.state.summary().has_two_runs()) {
    return Text("Open two runs to compare them: tutti view RUN RUN_B");
  }
  Refresh(context);
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::BeginChild("parts of both", {width * 0.38F, 0});
  DrawParts(context);
  ImGui::EndChild();
  ImGui::SameLine();
  ImGui::BeginChild("names of both");
  DrawNames(context);
  ImGui::EndChild();
}

}  // namespace tutti::viewer
