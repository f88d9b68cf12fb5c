// The timeline: rows with their labels, ruler, minimap; zoom, pan, selection with the mouse.
#pragma once

#include <optional>

#include "viewer/draw/context.h"
#include "viewer/draw/painter.h"
#include "viewer/draw/tooltip.h"

namespace tutti::viewer {

class Timeline {
 public:
  // Draws into the current window and handles the mouse in it.
  void Draw(DrawContext& context);

 private:
  // What a drag that began on the rows does.
  enum class Drag : uint8_t { kNone, kRange, kPan, kZoom, kSplitter };

  void HandleMouse(DrawContext& context, const Hit& hit);
  void HandleWheel(DrawContext& context);
  void BeginDrag(DrawContext& context, const Hit& hit);
  void EndDrag(DrawContext& context, const Hit& hit);
  void DrawRowMenu(DrawContext& context);
  void HandleHeaders(DrawContext& context, const TimelineLayout& layout);
  bool HandleResizing(DrawContext& context, const Hit& hit, float y, bool is_moving);
  void ClickHeader(DrawContext& context, const TimelineLayout& layout, const Row& row);
  void PaintDrop(DrawContext& context, const TimelineLayout& layout, ImDrawList* list);

  float header_width_ = 210;  // at scale 1
  Drag drag_ = Drag::kNone;
  int64_t drag_from_ns_ = 0;
  bool dragged_ = false;  // the mouse was moved since the button went down
  std::string menu_row_;  // key

  std::string moved_row_;  // key of the row whose label is pressed
  bool has_moved_row_ = false;
  std::optional<std::string> drop_before_;  // while a row is dragged
  std::string resized_row_;                 // key of the row whose lower edge is dragged, "" none
  float resized_top_ = 0;                   // of that row, from the top of the pinned ones

  EventTooltip tooltip_;
};

}  // namespace tutti::viewer
