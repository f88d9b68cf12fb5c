// A flame graph of the selected range, or of all; of two runs their difference.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

constexpr float kRowHeight = 18;
constexpr const char* kTracks[] = {"threads", "streams"};

double Change(const FlameNode& node) {
  return static_cast<double>(node.total_ns[1] - node.total_ns[0]) /
         static_cast<double>(std::max<int64_t>(1, node.total_ns[0]));
}

std::string SideText(const char* side, const FlameNode& node, size_t i, int64_t whole_ns) {
  const double share =
      static_cast<double>(node.total_ns[i]) / static_cast<double>(std::max<int64_t>(1, whole_ns));
  std::string percent = FormatShare(share);
  if (percent.starts_with('+')) percent.erase(0, 1);
  return std::string(side) + FormatNs(node.total_ns[i]) + " (" + percent + "), itself " +
         FormatNs(node.self_ns[i]) + ", " + FormatCount(node.count[i]) + " times";
}

}  // namespace

void FlamePanel::Refresh(DrawContext& context) {
  State& state = context.state;
  const Key wanted{state.session().loaded(), state.range(), tracks_};
  if (made_.Take(&graph_)) {
    has_ = making_;
    top_ = 0;
  }
  if (made_.is_busy() || has_ == wanted) return;
  making_ = wanted;
  const TimeRange range = state.range().value_or(TimeRange{INT64_MIN / 2, INT64_MAX / 2});
  const TrackKind kind = tracks_ == 0 ? TrackKind::kThread : TrackKind::kStream;
  const size_t first_of_b = state.summary().first_slot_of_b.value_or(SIZE_MAX);
  made_.Start([ranks = state.ranks(), range, kind, first_of_b] {
    FlameGraph graph;
    for (size_t side = 0; side < 2; ++side) {
      graph.Add(ranks, range.begin_ns, range.end_ns, side, [&](uint32_t rank, const Track& track) {
        return track.kind == kind && (rank >= first_of_b) == (side == 1);
      });
    }
    graph.Finish();
    return graph;
  });
}

void FlamePanel::DrawBox(DrawContext& context, const FlameBox& box, const ImVec2& at) {
  const FlameNode& node = graph_.nodes()[box.node];
  const bool is_root = box.node == 0;
  const bool has_two = context.state.summary().has_two_runs();
  const std::string_view name = context.state.session().names().Text(node.name);
  const float height = kRowHeight * context.scale;
  const ImVec2 from{at.x + box.x0, at.y + static_cast<float>(box.row) * height};
  const ImVec2 to{at.x + std::max(box.x1 - 1, box.x0 + 0.5F), from.y + height - 1};
  const ImU32 color = is_root   ? context.theme->group
                      : has_two ? DeltaColor(Change(node))
                                : ColorOf(node.category, name);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(from, to, color);
  const std::string label = is_root ? kTracks[tracks_] : ShortName(name);
  if (to.x - from.x > 24 * context.scale) {
    list->PushClipRect(from, {to.x - 2, to.y}, true);
    const bool is_pale = has_two && std::abs(Change(node)) < 0.15;
    const ImU32 text = is_root || is_pale ? context.theme->text : TextOn(color);
    list->AddText({from.x + 4, from.y + 1}, text, label.c_str());
    list->PopClipRect();
  }
  const ImVec2 mouse = ImGui::GetMousePos();
  if (!ImGui::IsItemHovered() || mouse.x < from.x || mouse.x >= to.x || mouse.y < from.y ||
      mouse.y >= to.y) {
    return;
  }
  list->AddRect(from, to, context.theme->text);
  if (ImGui::BeginTooltip()) {
    ImGui::PushTextWrapPos(460 * context.scale);
    Text(is_root ? label : std::string(name));
    const FlameNode& root = graph_.nodes()[0];
    Text(SideText(has_two ? "A " : "", node, 0, root.total_ns[0]));
    if (has_two) {
      Text(SideText("B ", node, 1, root.total_ns[1]));
      Text("B - A " + FormatNs(node.total_ns[1] - node.total_ns[0]) + ", " +
           FormatShare(Change(node)));
    }
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) clicked_ = box.node;
}

void FlamePanel::Draw(DrawContext& context) {
  ImGui::SetNextItemWidth(110 * context.scale);
  ImGui::Combo("##tracks", &tracks_, kTracks, 2);
  Refresh(context);
  const std::vector<FlameNode>& nodes = graph_.nodes();
  ImGui::SameLine();
  ImGui::BeginDisabled(top_ == 0);
  if (ImGui::Button("Up")) top_ = nodes[top_].parent;
  ImGui::EndDisabled();
  ImGui::SameLine();
  const bool has_two = context.state.summary().has_two_runs();
  Text(std::string(context.state.range() ? "the selected range" : "the whole run") +
       ", all ranks; a click goes down" +
       (has_two ? "; as wide as A and B together, orange: more in B" : ""));
  if (made_.is_busy()) {
    ImGui::SameLine();
    Dim(context, "adding up ...");
  }
  if (nodes[0].total_ns[0] + nodes[0].total_ns[1] == 0) {
    if (!made_.is_busy()) Dim(context, "Nothing of this kind ran there.");
    return;
  }
  ImGui::BeginChild("flames");
  const float width = std::max(32.0F, ImGui::GetContentRegionAvail().x);
  const std::vector<FlameBox> boxes = LayOut(graph_, top_, width);
  uint32_t rows = 1;
  for (const FlameBox& box : boxes) rows = std::max(rows, box.row + 1);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("boxes", {width, static_cast<float>(rows) * kRowHeight * context.scale});
  clicked_.reset();
  for (const FlameBox& box : boxes) DrawBox(context, box, at);
  if (clicked_) top_ = *clicked_;
  ImGui::EndChild();
}

}  // namespace tutti::viewer
