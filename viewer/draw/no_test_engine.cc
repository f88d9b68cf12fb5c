// Dear ImGui is built with hooks for its Test Engine. Programs that don't link the engine link
// these in its place; they are never called, as the hooks are off.
#include <imgui.h>
#include <imgui_internal.h>

void ImGuiTestEngineHook_ItemAdd(ImGuiContext* /*context*/, ImGuiID /*id*/, const ImRect& /*box*/,
                                 const ImGuiLastItemData* /*item*/) {}
void ImGuiTestEngineHook_ItemInfo(ImGuiContext* /*context*/, ImGuiID /*id*/, const char* /*label*/,
                                  ImGuiItemStatusFlags /*flags*/) {}
void ImGuiTestEngineHook_Log(ImGuiContext* /*context*/, const char* /*format*/, ...) {}
const char* ImGuiTestEngine_FindItemDebugLabel(ImGuiContext* /*context*/, ImGuiID /*id*/) {
  return nullptr;
}
