// The whole interface of one state: owns Dear ImGui's context. A platform gives it input and a
// place to draw, and calls Draw between NewFrame and Render.
#pragma once

#include <string>

#include "common/status.h"
#include "viewer/draw/context.h"
#include "viewer/draw/panels.h"
#include "viewer/draw/timeline.h"

struct ImGuiContext;
struct ImPlotContext;

namespace tutti::viewer {

struct UiOptions {
  float scale = 1;
  std::string layout_file;  // where the arrangement of panels is kept, "" nowhere
};

class Ui {
 public:
  Ui(State* state, const UiOptions& options);
  ~Ui();
  Ui(const Ui&) = delete;
  Ui& operator=(const Ui&) = delete;

  // One frame: between ImGui::NewFrame and ImGui::Render.
  void Draw();

  DrawContext& context() { return context_; }
  // Once it is drawn: whether that frame is to be kept, and what came of it.
  bool TakePictureWish();
  void TellOfPicture(const Result<std::string>& path);
  // What a picture of the run is called.
  std::string PictureName() const;

  // Colour to clear the picture to.
  ImVec4 background() const;

 private:
  void DrawToolbar();
  void DrawPanelButtons();
  void DrawLossBanner();
  void DrawStatusBar();
  void DrawClocks();
  void ArrangePanels(unsigned int dockspace);
  template <typename Function>
  void DrawPanel(Panel panel, const char* title, Function&& draw);

  UiOptions options_;
  ImGuiContext* imgui_;
  ImPlotContext* implot_;
  DrawContext context_;
  Timeline timeline_;
  HeatMap heat_map_;
  EventsPanel events_;
  FlamePanel flame_;
  StepsPanel steps_;
  SqlConsole sql_;
  WhatIfPanel what_if_;
  ComparePanel compare_;
  MemoryPanel memory_;
  NotesPanel notes_;
  Palette palette_;
  std::string search_text_;
  bool theme_is_dark_ = false;
  bool has_theme_ = false;
  bool is_arranged_ = false;
};

}  // namespace tutti::viewer
