#include "viewer/draw/theme.h"

#include <implot.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti::viewer {
namespace {

constexpr ImU32 Rgb(uint32_t hex, uint32_t alpha = 255) {
  return IM_COL32((hex >> 16) & 255, (hex >> 8) & 255, hex & 255, alpha);
}

ImVec4 Vec(ImU32 color) { return ImGui::ColorConvertU32ToFloat4(color); }

ImU32 Scaled(ImU32 color, float factor) {
  ImVec4 c = Vec(color);
  c.x = std::clamp(c.x * factor, 0.0F, 1.0F);
  c.y = std::clamp(c.y * factor, 0.0F, 1.0F);
  c.z = std::clamp(c.z * factor, 0.0F, 1.0F);
  return ImGui::ColorConvertFloat4ToU32(c);
}

void SetWindowColors(const Theme& theme, ImGuiStyle* style) {
  const auto set = [&](ImGuiCol which, ImU32 color) { style->Colors[which] = Vec(color); };
  const ImU32 raised = theme.is_dark ? Rgb(0x262A33) : Rgb(0xE3E6EB);
  const ImU32 raised_more = theme.is_dark ? Rgb(0x343A46) : Rgb(0xD2D7DF);
  set(ImGuiCol_Text, theme.text);
  set(ImGuiCol_TextDisabled, theme.dim_text);
  set(ImGuiCol_WindowBg, theme.background);
  set(ImGuiCol_ChildBg, theme.background);
  set(ImGuiCol_PopupBg, theme.is_dark ? Rgb(0x1E2129, 250) : Rgb(0xFFFFFF, 250));
  set(ImGuiCol_Border, theme.line);
  set(ImGuiCol_FrameBg, raised);
  set(ImGuiCol_FrameBgHovered, raised_more);
  set(ImGuiCol_FrameBgActive, raised_more);
  set(ImGuiCol_TitleBg, theme.header);
  set(ImGuiCol_TitleBgActive, theme.header);
  set(ImGuiCol_TitleBgCollapsed, theme.header);
  set(ImGuiCol_MenuBarBg, theme.header);
  set(ImGuiCol_Button, raised);
  set(ImGuiCol_ButtonHovered, raised_more);
  set(ImGuiCol_ButtonActive, theme.accent);
  set(ImGuiCol_Header, raised);
  set(ImGuiCol_HeaderHovered, raised_more);
  set(ImGuiCol_HeaderActive, raised_more);
  set(ImGuiCol_Separator, theme.line);
  set(ImGuiCol_Tab, theme.header);
  set(ImGuiCol_TabHovered, raised_more);
  set(ImGuiCol_TabSelected, raised);
  set(ImGuiCol_TabSelectedOverline, theme.accent);
  set(ImGuiCol_TabDimmed, theme.header);
  set(ImGuiCol_TabDimmedSelected, raised);
  set(ImGuiCol_TabDimmedSelectedOverline, theme.line);
  set(ImGuiCol_TableHeaderBg, raised);
  set(ImGuiCol_TableRowBgAlt, theme.row_other);
  set(ImGuiCol_TableBorderLight, theme.line);
  set(ImGuiCol_TableBorderStrong, theme.line);
  set(ImGuiCol_CheckMark, theme.accent);
  set(ImGuiCol_SliderGrab, WithAlpha(theme.accent, 0.45F));
  set(ImGuiCol_SliderGrabActive, theme.accent);
  set(ImGuiCol_ScrollbarBg, theme.background);
  set(ImGuiCol_ScrollbarGrab, raised_more);
  set(ImGuiCol_TextSelectedBg, WithAlpha(theme.accent, 0.35F));
  set(ImGuiCol_DockingPreview, WithAlpha(theme.accent, 0.5F));
  set(ImGuiCol_DockingEmptyBg, theme.background);
  set(ImGuiCol_PlotHistogram, ColorOf(Category::kCompute));
  set(ImGuiCol_ModalWindowDimBg, Rgb(0x000000, 90));
}

}  // namespace

const Theme& DarkTheme() {
  static const Theme theme = {
      .background = Rgb(0x16181D),
      .row = Rgb(0x16181D),
      .row_other = Rgb(0x1A1D23),
      .group = Rgb(0x20242C),
      .header = Rgb(0x1B1E25),
      .line = Rgb(0x2C313B),
      .step_line = Rgb(0x8A93A3, 90),
      .text = Rgb(0xE6E9EF),
      .dim_text = Rgb(0x98A1B0),
      .accent = Rgb(0xF0E442),
      .range = Rgb(0xF0E442, 34),
      .alarm = Rgb(0xFF6B5A),
      .path = Rgb(0xFF4FA3),
      .is_dark = true,
  };
  return theme;
}

const Theme& LightTheme() {
  static const Theme theme = {
      .background = Rgb(0xFAFBFC),
      .row = Rgb(0xFFFFFF),
      .row_other = Rgb(0xF6F7F9),
      .group = Rgb(0xE9ECF1),
      .header = Rgb(0xF0F2F5),
      .line = Rgb(0xD5DAE2),
      .step_line = Rgb(0x5B6472, 110),
      .text = Rgb(0x1C2027),
      .dim_text = Rgb(0x59616F),
      .accent = Rgb(0x8A3FFC),
      .range = Rgb(0x8A3FFC, 30),
      .alarm = Rgb(0xC62F1D),
      .path = Rgb(0xC2006B),
      .is_dark = false,
  };
  return theme;
}

void ApplyTheme(const Theme& theme, float scale) {
  ImGuiStyle style;
  style.WindowPadding = ImVec2(8, 6);
  style.FramePadding = ImVec2(7, 3);
  style.ItemSpacing = ImVec2(7, 4);
  style.CellPadding = ImVec2(6, 2);
  style.WindowRounding = 3;
  style.FrameRounding = 3;
  style.GrabMinSize = 6;
  style.PopupRounding = 4;
  style.TabRounding = 3;
  style.WindowBorderSize = 1;
  style.PopupBorderSize = 1;
  style.ScrollbarSize = 11;
  style.DockingSeparatorSize = 2;
  style.WindowMenuButtonPosition = ImGuiDir_None;
  style.TabBarOverlineSize = 2;
  style.ScaleAllSizes(scale);
  style.FontSizeBase = ImGui::GetStyle().FontSizeBase;
  style.FontScaleDpi = scale;
  SetWindowColors(theme, &style);
  ImGui::GetStyle() = style;
  ImPlot::StyleColorsAuto();
  ImPlotStyle& plot = ImPlot::GetStyle();
  plot.Colors[ImPlotCol_PlotBg] = Vec(theme.row);
  plot.Colors[ImPlotCol_FrameBg] = Vec(theme.background);
}

ImU32 ColorOf(Category category) {
  switch (category) {
    case Category::kCompute:
      return Rgb(0x0072B2);
    case Category::kCommunication:
      return Rgb(0xE69F00);
    case Category::kCopy:
      return Rgb(0x56B4E9);
    case Category::kHost:
      return Rgb(0x009E73);
    case Category::kLoader:
      return Rgb(0xD55E00);
    case Category::kOptimizer:
      return Rgb(0xCC79A7);
    case Category::kRuntime:
      return Rgb(0x7B8CA6);
    case Category::kWait:
      return Rgb(0x9A9A9A);
    case Category::kStep:
      return Rgb(0x6C7686);
  }
  return Rgb(0x808080);
}

ImU32 ColorOf(Category category, std::string_view name) {
  uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : name) {
    if (c >= '0' && c <= '9') continue;
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  const float shade = static_cast<float>((hash >> 8) % 7) / 6;  // 0 to 1
  return Scaled(ColorOf(category), 0.80F + 0.32F * shade);
}

ImU32 TextOn(ImU32 color) {
  const ImVec4 c = Vec(color);
  const float brightness = 255 * (0.299F * c.x + 0.587F * c.y + 0.114F * c.z);
  return brightness > 125 ? Rgb(0x000000) : Rgb(0xFFFFFF);
}

ImU32 DeltaColor(double share) {
  const auto strength = static_cast<float>(std::clamp(std::abs(share) * 4, 0.25, 1.0));
  return WithAlpha(share >= 0 ? Rgb(0xE69F00) : Rgb(0x0072B2), strength);
}

ImU32 WithAlpha(ImU32 color, float alpha) {
  const auto scaled = static_cast<uint32_t>(std::lround(alpha * 255));
  return (color & ~IM_COL32_A_MASK) | (scaled << IM_COL32_A_SHIFT);
}

ImU32 HeatColor(float share) {
  static constexpr std::array<uint32_t, 9> kCividis = {
      0x00224E, 0x123570, 0x3B496C, 0x575D6D, 0x707173, 0x8A8678, 0xA59C74, 0xC3B369, 0xFEE838};
  const float place = std::clamp(share, 0.0F, 1.0F) * static_cast<float>(kCividis.size() - 1);
  const auto below = std::min(static_cast<size_t>(place), kCividis.size() - 2);
  const float rest = place - static_cast<float>(below);
  const ImVec4 a = Vec(Rgb(kCividis[below]));
  const ImVec4 b = Vec(Rgb(kCividis[below + 1]));
  return ImGui::ColorConvertFloat4ToU32(
      ImVec4(a.x + (b.x - a.x) * rest, a.y + (b.y - a.y) * rest, a.z + (b.z - a.z) * rest, 1));
}

}  // namespace tutti::viewer
