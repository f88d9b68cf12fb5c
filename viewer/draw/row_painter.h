// Paints what rows hold: events and folds of them, bands, curves of values, differences of two
// runs.
#pragma once

#include <span>

#include "viewer/draw/painter.h"

namespace tutti::viewer {

// Without the labels at their left. `hovered` is what the mouse is on.
void PaintSceneRows(DrawContext& context, const TimelineLayout& layout, const Hit& hovered,
                    std::span<const SceneRow> rows, ImDrawList* list);

}  // namespace tutti::viewer
