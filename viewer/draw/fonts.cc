#include "viewer/draw/fonts.h"

#include <array>
#include <filesystem>

namespace tutti::viewer {
namespace {

constexpr float kSize = 14;

constexpr std::array kLabelFiles = {
    "/usr/share/fonts/truetype/roboto/unhinted/RobotoCondensed-Regular.ttf",
    "/usr/share/fonts/truetype/roboto/unhinted/RobotoTTF/RobotoCondensed-Regular.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSansCondensed.ttf"};
constexpr std::array kMonoFiles = {
    "/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"};

template <size_t kCount>
ImFont* AddFirst(const std::array<const char*, kCount>& files, float size) {
  for (const char* file : files) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) continue;
    if (ImFont* font = ImGui::GetIO().Fonts->AddFontFromFileTTF(file, size)) return font;
  }
  return nullptr;
}

}  // namespace

Fonts LoadFonts() {
  Fonts fonts;
  fonts.label = AddFirst(kLabelFiles, kSize);
  if (fonts.label == nullptr) fonts.label = ImGui::GetIO().Fonts->AddFontDefault();
  fonts.mono = AddFirst(kMonoFiles, kSize - 1);
  if (fonts.mono == nullptr) fonts.mono = fonts.label;
  ImGui::GetStyle().FontSizeBase = kSize;
  ImGui::GetIO().FontDefault = fonts.label;
  return fonts;
}

}  // namespace tutti::viewer
