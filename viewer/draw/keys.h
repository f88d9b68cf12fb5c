// Keys as the command table writes them: "W", "Ctrl+Shift+P", "Alt+Up", "?".
#pragma once

#include <imgui.h>

#include <string_view>

#include "viewer/draw/context.h"

namespace tutti::viewer {

// ImGuiKey_None for what is no key.
ImGuiKeyChord ParseChord(std::string_view text);

// Runs the commands whose keys are pressed, unless a text is being typed.
void HandleKeys(DrawContext& context);

}  // namespace tutti::viewer
