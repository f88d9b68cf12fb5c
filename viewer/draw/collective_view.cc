// One collective over all ranks.
#include <imgui.h>

#include <algorithm>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

// Shares of a call in a common scale: bars from the first arrival to the last end.
void DrawCalls(DrawContext& context, const Collective& collective) {
  State& state = context.state;
  std::vector<const schema::CollectiveCallRow*> calls;
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;
  for (const schema::CollectiveCallRow& call : collective.calls) {
    calls.push_back(&call);
    if (call.arrival_ns) first = std::min(first, *call.arrival_ns);
    if (call.end_ns) last = std::max(last, *call.end_ns);
    if (call.arrival_ns) last = std::max(last, *call.arrival_ns + 1);
  }
  if (first == INT64_MAX) first = 0;
  if (last <= first) last = first + 1;
  // The latest first: it is whom the others wait for. Those that never came are later still.
  std::stable_sort(calls.begin(), calls.end(), [](const auto* a, const auto* b) {
    return a->arrival_ns.value_or(INT64_MAX) > b->arrival_ns.value_or(INT64_MAX);
  });
  const float label_width = 170 * context.scale;
  const float row_height = 18 * context.scale;
  ImGui::BeginChild("calls");
  const float width = std::max(50.0F, ImGui::GetContentRegionAvail().x - label_width - 8);
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(calls.size()), row_height);
  std::optional<std::pair<uint32_t, int64_t>> wanted;
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const schema::CollectiveCallRow& call = *calls[static_cast<size_t>(i)];
      const ImVec2 at = ImGui::GetCursorScreenPos();
      ImGui::PushID(i);
      if (ImGui::InvisibleButton("call", {label_width + width, row_height - 1})) {
        const auto slot = state.summary().SlotOf(call.rank);
        if (slot) wanted = {static_cast<uint32_t>(*slot), call.source_id};
      }
      if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip("%s: arrives %s after the first, waits %s",
                          state.summary().RankName(call.rank).c_str(),
                          call.arrival_ns ? FormatNs(*call.arrival_ns - first).c_str() : "never",
                          call.wait_ns ? FormatNs(*call.wait_ns).c_str() : "unknown");
        list->AddRectFilled(at, {at.x + label_width + width, at.y + row_height - 1},
                            context.theme->group);
      }
      ImGui::PopID();
      const std::string label =
          state.summary().RankName(call.rank) + "  " +
          (call.arrival_ns ? "+" + FormatNs(*call.arrival_ns - first) : std::string("never came"));
      list->AddText({at.x + 4, at.y}, call.arrival_ns ? context.theme->text : context.theme->alarm,
                    label.c_str());
      if (!call.arrival_ns) continue;
      const auto x_of = [&](int64_t t) {
        return at.x + label_width +
               static_cast<float>(static_cast<double>(t - first) /
                                  static_cast<double>(last - first)) *
                   width;
      };
      const int64_t end = call.end_ns.value_or(last);
      const int64_t ready =
          std::min(end, *call.arrival_ns + std::max<int64_t>(0, call.wait_ns.value_or(0)));
      const ImU32 color = ColorOf(Category::kCommunication);
      list->AddRectFilled({x_of(*call.arrival_ns), at.y + 2}, {x_of(ready), at.y + row_height - 3},
                          WithAlpha(color, 0.35F));
      list->AddRectFilled({x_of(ready), at.y + 2},
                          {std::max(x_of(end), x_of(ready) + 1), at.y + row_height - 3}, color);
    }
  }
  ImGui::EndChild();
  if (!wanted) return;
  const auto ref = FindRow(state.ranks(), wanted->first, Source::kCollective,
                           static_cast<uint32_t>(wanted->second));
  if (ref) state.GoTo(*ref);
}

}  // namespace

void DrawCollective(DrawContext& context) {
  State& state = context.state;
  const RunSummary& summary = state.summary();
  if (summary.collectives.empty()) {
    Text("This run has no collectives.");
    return;
  }
  size_t place = 0;
  for (size_t i = 0; i < summary.collectives.size(); ++i) {
    if (state.collective == summary.collectives[i].row.id) place = i;
  }
  if (!state.collective) {  // the one with most skew tells most
    for (size_t i = 0; i < summary.collectives.size(); ++i) {
      if (summary.collectives[i].row.skew_ns.value_or(-1) >
          summary.collectives[place].row.skew_ns.value_or(-1)) {
        place = i;
      }
    }
  }
  if (ImGui::Button("<") && place > 0) state.collective = summary.collectives[--place].row.id;
  ImGui::SameLine();
  if (ImGui::Button(">") && place + 1 < summary.collectives.size()) {
    state.collective = summary.collectives[++place].row.id;
  }
  const schema::CollectiveRow& row = summary.collectives[place].row;
  ImGui::SameLine();
  std::string text = std::to_string(place + 1) + " of " +
                     FormatCount(static_cast<int64_t>(summary.collectives.size())) + ": " + row.op;
  if (row.bytes) text += "  " + FormatBytes(static_cast<double>(*row.bytes));
  if (row.sequence) text += "  sequence " + std::to_string(*row.sequence);
  if (row.step)
    text += "  step " + std::to_string(summary.steps[static_cast<size_t>(*row.step)].number);
  text += "  " + row.state;
  if (row.skew_ns) text += "  skew " + FormatNs(*row.skew_ns);
  if (row.transfer_ns) text += "  transfer " + FormatNs(*row.transfer_ns);
  text += "   pale: waits, full: transfers; the last to come first";
  Text(text);
  DrawCalls(context, summary.collectives[place]);
}

}  // namespace tutti::viewer
