#include "viewer/draw/timeline.h"

#include <algorithm>
#include <cmath>

#include "viewer/draw/painter.h"

namespace tutti::viewer {
namespace {

constexpr float kOverviewHeight = 44;
constexpr float kRulerHeight = 36;
constexpr double kWheelZoom = 0.80;
constexpr float kWheelScroll = 60;
constexpr double kWheelPan = 0.08;   // of the width
constexpr float kClickSlack = 4;     // pixels that a click may move
constexpr double kSnapDistance = 6;  // pixels to the edge of an event
constexpr float kEdge = 4;           // height of a row's lower edge, to be dragged

TimelineLayout LayoutOf(const DrawContext& context, float header_width) {
  TimelineLayout layout;
  layout.origin = ImGui::GetCursorScreenPos();
  layout.scale = context.scale;
  layout.header_width = std::floor(header_width * context.scale);
  layout.overview_height = std::floor(kOverviewHeight * context.scale);
  layout.ruler_height = std::floor(kRulerHeight * context.scale);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  layout.width = std::max(32.0F, std::floor(room.x - layout.header_width));
  layout.height =
      std::max(32.0F, std::floor(room.y - layout.overview_height - layout.ruler_height));
  return layout;
}

// A click in the overview shows that time; a drag keeps on.
void HandleOverview(DrawContext& context, const TimelineLayout& layout) {
  ImGui::SetCursorScreenPos({layout.RowsX(), layout.OverviewY()});
  ImGui::InvisibleButton("overview", {layout.width, layout.overview_height});
  if (!ImGui::IsItemActive()) return;
  State& state = context.state;
  const TimeRange extent = state.extent();
  const Viewport whole{extent.begin_ns, extent.end_ns, state.viewport().width_px};
  const int64_t time = whole.ToTime(static_cast<double>(ImGui::GetMousePos().x - layout.RowsX()));
  const int64_t half = state.viewport().span_ns() / 2;
  state.Show(time - half, time + half, !ImGui::IsItemActivated());
}

// Before which row of the same parent a row that is dragged to the one below the pointer would
// stand: it takes that one's place. "": behind the last of them; nullopt: they have not one parent.
std::optional<std::string> DropBefore(const RowTree& tree, const std::string& key,
                                      const SceneRow* below) {
  const auto dragged = std::find_if(tree.rows.begin(), tree.rows.end(),
                                    [&](const Row& row) { return row.key == key; });
  if (dragged == tree.rows.end() || below == nullptr) return std::nullopt;
  auto row = dragged;
  while (row != tree.rows.begin() && (row - 1)->depth >= dragged->depth) --row;
  std::vector<std::string> siblings;
  std::optional<size_t> from;
  std::optional<size_t> to;
  for (; row != tree.rows.end() && row->depth >= dragged->depth; ++row) {
    if (row->depth == dragged->depth) siblings.push_back(row->key);
    if (row == dragged) from = siblings.size() - 1;
    if (row->key == below->row.key) to = siblings.size() - 1;
  }
  if (!from.has_value() || !to.has_value()) return std::nullopt;
  const size_t before = *from < *to ? *to + 1 : *to;
  return before < siblings.size() ? siblings[before] : "";
}

bool IsMemory(const State& state, const SceneRow* row) {
  return row != nullptr && row->row.kind == RowKind::kSeries &&
         state.ranks()[row->row.rank]->tracks[row->row.track].kind == TrackKind::kMemory;
}

// Whether the pointer is on the lower edge of a row whose levels can be shown or not.
bool IsOnLowerEdge(const SceneRow* row, float y) {
  return row != nullptr && row->row.is_open && row->row.lanes > 1 &&
         y > row->y + row->row.height - kEdge;
}

// Where the pointer is in time: at the edge of the event below it, if it is near one.
int64_t TimeAtPointer(const DrawContext& context, const Hit& hit) {
  const Viewport& viewport = context.state.viewport();
  const auto x = static_cast<double>(context.pointer.x);
  const auto event = EventAt(context.state.ranks(), hit.event);
  if (hit.mark == nullptr || hit.mark->count > 1 || !event.has_value() || ImGui::GetIO().KeyAlt) {
    return viewport.ToTime(x);
  }
  const double to_begin = std::abs(viewport.ToX(event->begin_ns) - x);
  const double to_end = std::abs(viewport.ToX(event->end_ns) - x);
  if (std::min(to_begin, to_end) > kSnapDistance) return viewport.ToTime(x);
  return to_begin <= to_end ? event->begin_ns : event->end_ns;
}

}  // namespace

// A drag of a row's lower edge shows as many of its levels. Whether there is one.
bool Timeline::HandleResizing(DrawContext& context, const Hit& hit, float y, bool is_moving) {
  if (ImGui::IsItemActivated()) {
    const bool begins = IsOnLowerEdge(hit.row, y);
    resized_row_ = begins ? hit.row->row.key : "";
    resized_top_ = begins ? hit.row->y : 0;
  }
  const bool is_active = ImGui::IsItemActive() || ImGui::IsItemDeactivated();
  const bool is_resizing = is_active && !resized_row_.empty();
  if (is_resizing || (ImGui::IsItemHovered() && IsOnLowerEdge(hit.row, y))) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  }
  if (is_resizing && is_moving) {
    const float levels = std::max(1.0F, std::round((y - resized_top_) / kLaneHeight));
    context.state.ShowLevels(resized_row_, static_cast<uint32_t>(levels));
  }
  return is_resizing;
}

// A click opens or closes a row; a drag moves it among those of its parent.
void Timeline::HandleHeaders(DrawContext& context, const TimelineLayout& layout) {
  State& state = context.state;
  ImGui::SetCursorScreenPos({layout.origin.x, layout.RowsY()});
  ImGui::InvisibleButton("headers", {std::max(8.0F, layout.header_width - 6), layout.height});
  const float y = (ImGui::GetMousePos().y - layout.RowsY()) / layout.scale;
  const Hit hit = HitTest(state.scene(), 0, y);
  drop_before_.reset();
  const bool is_moving =
      std::abs(ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0).y) > kClickSlack;
  if (HandleResizing(context, hit, y, is_moving)) return;
  if (ImGui::IsItemActivated()) moved_row_ = hit.row == nullptr ? "" : hit.row->row.key;
  if (ImGui::IsItemActive() && is_moving && !moved_row_.empty()) {
    drop_before_ = DropBefore(state.tree(), moved_row_, hit.row);
    has_moved_row_ = true;
    ImGui::SetMouseCursor(drop_before_.has_value() ? ImGuiMouseCursor_ResizeNS
                                                   : ImGuiMouseCursor_NotAllowed);
    return;
  }
  if (ImGui::IsItemDeactivated()) {
    const auto before = DropBefore(state.tree(), moved_row_, hit.row);
    if (!has_moved_row_ && hit.row != nullptr) {
      ClickHeader(context, layout, hit.row->row);
    } else if (has_moved_row_ && before.has_value()) {
      state.MoveRow(moved_row_, *before);
    }
    has_moved_row_ = false;
    return;
  }
  if (!ImGui::IsItemHovered() || hit.row == nullptr) return;
  ImGui::SetMouseCursor(hit.row->row.can_open ? ImGuiMouseCursor_Hand : ImGuiMouseCursor_Arrow);
}

void Timeline::ClickHeader(DrawContext& context, const TimelineLayout& layout, const Row& row) {
  if (!row.can_open) return;
  const std::string key = row.key;  // the row goes with the scene
  const bool is_cropped = row.is_open && row.lanes > row.lanes_shown;
  const bool on_levels = ImGui::GetMousePos().x > layout.RowsX() - 90 * layout.scale;
  if (is_cropped && on_levels) {
    context.state.ToggleDeep(key);
  } else {
    context.state.ToggleOpen(key);
  }
}

// A line where a row that is dragged would stand.
void Timeline::PaintDrop(DrawContext& context, const TimelineLayout& layout, ImDrawList* list) {
  if (!drop_before_.has_value()) return;
  const float pointer = (ImGui::GetMousePos().y - layout.RowsY()) / layout.scale;
  for (const SceneRow& row : context.state.scene().rows) {
    const bool is_last = drop_before_->empty() && pointer < row.y + row.row.height;
    if (row.row.key != *drop_before_ && !is_last) continue;
    const float y = layout.RowsY() + (row.y + (is_last ? row.row.height : 0)) * layout.scale;
    list->AddLine({layout.origin.x, y}, {layout.RowsX() + layout.width, y}, context.theme->accent,
                  2);
    return;
  }
}

void Timeline::Draw(DrawContext& context) {
  State& state = context.state;
  const TimelineLayout layout = LayoutOf(context, header_width_);
  state.SetSize(static_cast<int>(layout.width), layout.height / layout.scale);
  state.ScrollTo(state.scroll_y());  // rows may have gone
  ImDrawList* list = ImGui::GetWindowDrawList();

  ImGui::SetNextItemAllowOverlap();
  ImGui::SetCursorScreenPos({layout.RowsX(), layout.RowsY()});
  ImGui::InvisibleButton("rows", {layout.width, layout.height},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                             ImGuiButtonFlags_MouseButtonMiddle);
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  const ImVec2 mouse = ImGui::GetMousePos();
  const bool is_active = ImGui::IsItemActive();
  context.pointer.is_over_rows = ImGui::IsItemHovered() || is_active;
  context.pointer.x = mouse.x - layout.RowsX();
  context.pointer.y = (mouse.y - layout.RowsY()) / layout.scale;
  const bool is_dragging_view = is_active && dragged_;
  // The end of a range looks for events as well.
  Hit hit = context.pointer.is_over_rows && (!is_dragging_view || drag_ == Drag::kRange)
                ? HitTest(state.scene(), context.pointer.x, context.pointer.y)
                : Hit{};
  HandleMouse(context, hit);
  if (ImGui::IsItemHovered()) HandleWheel(context);
  DrawRowMenu(context);
  HandleOverview(context, layout);
  HandleHeaders(context, layout);

  ImGui::SetCursorScreenPos({layout.RowsX() - 5, layout.RowsY()});
  ImGui::InvisibleButton("splitter", {6, layout.height});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive())
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (ImGui::IsItemActive()) {
    const float width = header_width_ + ImGui::GetIO().MouseDelta.x / context.scale;
    header_width_ = std::clamp(width, 80.0F, 600.0F);
  }

  // What was clicked may have changed the scene.
  if (context.pointer.is_over_rows && !is_dragging_view) {
    hit = HitTest(state.scene(), context.pointer.x, context.pointer.y);
  } else {
    hit = Hit{};
  }
  PaintOverview(context, layout, list);
  PaintRows(context, layout, hit, list);
  PaintRuler(context, layout, list);
  PaintOverlays(context, layout, list);
  PaintHeaders(context, layout, list);
  PaintDrop(context, layout, list);
  const bool has_tooltip = drag_ == Drag::kNone && !ImGui::IsPopupOpen("row menu");
  tooltip_.Draw(context, has_tooltip ? hit : Hit{});
  if (has_tooltip && !tooltip_.is_held() && hit.row != nullptr &&
      hit.row->row.kind == RowKind::kSeries) {
    DrawSeriesTooltip(context, *hit.row);
  }
}

void Timeline::BeginDrag(DrawContext& context, const Hit& hit) {
  const ImGuiIO& io = ImGui::GetIO();
  dragged_ = false;
  drag_from_ns_ = TimeAtPointer(context, hit);
  drag_ = Drag::kRange;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Right) || io.KeyShift) drag_ = Drag::kPan;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Middle)) drag_ = Drag::kZoom;
}

void Timeline::EndDrag(DrawContext& context, const Hit& hit) {
  State& state = context.state;
  if (drag_ == Drag::kZoom && dragged_ && state.range().has_value()) {
    const TimeRange range = *state.range();
    state.ClearRange();
    state.Show(range.begin_ns, range.end_ns);
  } else if (!dragged_ && hit.mark != nullptr && drag_ != Drag::kPan) {
    state.Select(hit.event);
    if (drag_ == Drag::kZoom) state.ZoomToSelected();
  } else if (!dragged_ && drag_ == Drag::kRange) {
    state.Deselect();
    if (IsMemory(state, hit.row)) {
      state.LookAtMemory(&hit.row->row,
                         state.viewport().ToTime(static_cast<double>(context.pointer.x)));
    }
  } else if (!dragged_ && drag_ == Drag::kPan && hit.row != nullptr) {
    menu_row_ = hit.row->row.key;
    ImGui::OpenPopup("row menu");
  }
  drag_ = Drag::kNone;
  dragged_ = false;
}

void Timeline::HandleMouse(DrawContext& context, const Hit& hit) {
  State& state = context.state;
  if (ImGui::IsItemActivated()) BeginDrag(context, hit);
  if (ImGui::IsItemHovered() && hit.mark != nullptr &&
      ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    state.Select(hit.event);
    state.ZoomToSelected();
  }
  if (drag_ == Drag::kNone) return;
  if (!ImGui::IsItemActive()) return EndDrag(context, hit);
  const ImVec2 delta = ImGui::GetIO().MouseDelta;
  const ImGuiMouseButton button = drag_ == Drag::kZoom ? ImGuiMouseButton_Middle
                                  : ImGui::IsMouseDown(ImGuiMouseButton_Right)
                                      ? ImGuiMouseButton_Right
                                      : ImGuiMouseButton_Left;
  const ImVec2 moved = ImGui::GetMouseDragDelta(button, 0);
  if (std::abs(moved.x) > kClickSlack || std::abs(moved.y) > kClickSlack) dragged_ = true;
  if (!dragged_) return;
  if (drag_ == Drag::kPan) {
    state.DragBy(-static_cast<double>(delta.x));
    state.ScrollTo(state.scroll_y() - delta.y / context.scale);
  } else {
    state.SelectRange(drag_from_ns_, TimeAtPointer(context, hit));
  }
}

void Timeline::HandleWheel(DrawContext& context) {
  const ImGuiIO& io = ImGui::GetIO();
  State& state = context.state;
  if (io.MouseWheel == 0 && io.MouseWheelH == 0) return;
  // With Shift, ImGui turns the wheel into a horizontal one.
  const bool zooms = io.KeyCtrl || context.settings.wheel_zooms;
  if (zooms && io.MouseWheel != 0) {
    const float finely = context.settings.wheel_zooms && io.KeyCtrl ? 0.3F : 1.0F;
    state.ZoomAt(static_cast<double>(context.pointer.x),
                 std::pow(kWheelZoom, finely * io.MouseWheel));
  } else if (io.MouseWheelH != 0) {
    state.PanBy(-static_cast<double>(io.MouseWheelH) * kWheelPan * state.viewport().width_px);
  } else if (context.pointer.y < state.scene().pinned_height && HidesPinned(state.scene())) {
    state.ScrollPinnedTo(state.scene().pinned_scroll - io.MouseWheel * kWheelScroll);
  } else {
    state.ScrollTo(state.scroll_y() - io.MouseWheel * kWheelScroll);
  }
}

void Timeline::DrawRowMenu(DrawContext& context) {
  if (!ImGui::BeginPopup("row menu")) return;
  State& state = context.state;
  if (ImGui::MenuItem("Pin or unpin row", "P")) state.TogglePin(menu_row_);
  if (ImGui::MenuItem("Open or close row", "O")) state.ToggleOpen(menu_row_);
  if (ImGui::MenuItem("All levels or the first")) state.ToggleDeep(menu_row_);
  if (ImGui::MenuItem("Hide row")) state.Hide(menu_row_);
  if (ImGui::MenuItem("Show hidden rows", nullptr, false, !state.choices().hidden.empty())) {
    state.ShowHidden();
  }
  if (ImGui::MenuItem("Rows in their first order", nullptr, false,
                      !state.choices().moves.empty())) {
    state.ResetOrder();
  }
  ImGui::Separator();
  if (ImGui::MenuItem("Whole run", "Home")) state.ShowWhole();
  if (ImGui::MenuItem("Zoom to selected event", "F", false, state.selected().has_value())) {
    state.ZoomToSelected();
  }
  ImGui::EndPopup();
}

}  // namespace tutti::viewer
