// What is said of an event that the mouse rests on.
#pragma once

#include <optional>
#include <string>

#include "viewer/draw/context.h"
#include "viewer/scene/scene.h"

namespace tutti::viewer {

// Of the event below the pointer. While Ctrl is held it stays where it is, of what it is: the
// pointer can go elsewhere, and what it says be compared with what is there.
class EventTooltip {
 public:
  // Once a frame; `hit` is what the pointer is on now, if a tooltip is to be shown for that.
  void Draw(DrawContext& context, const Hit& hit);
  bool is_held() const { return held_.has_value(); }

 private:
  struct Subject {
    EventRef event;
    SpanMark mark;
    std::string row;
    ImVec2 pointer;
  };

  static void DrawText(DrawContext& context, const Subject& subject);

  std::optional<Subject> held_;
  bool was_ctrl_ = false;
};

// The value of a series at the pointer, on this rank and on the others.
void DrawSeriesTooltip(DrawContext& context, const SceneRow& row);

// "p93 of 1,234; median 1.2 ms; this rank +4 % against the others": how the event compares with
// those of its name.
void DrawComparison(DrawContext& context, const EventRef& ref, const Event& event);

// How much later the event could have ended, once the replay knows it.
void DrawSlack(DrawContext& context, const EventRef& ref);

// Of a call of a collective: whom it waits for and how far the collective got.
void DrawCollectiveFacts(DrawContext& context, const EventRef& ref, const Event& event);

}  // namespace tutti::viewer
