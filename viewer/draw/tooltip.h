// What is said of an event that the mouse rests on.
#pragma once

#include "viewer/draw/context.h"
#include "viewer/scene/scene.h"

namespace tutti::viewer {

void DrawEventTooltip(DrawContext& context, const Hit& hit);

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
