// Plays scripts against a state and its interface without a window, and takes pictures.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "viewer/app/script.h"
#include "viewer/app/state.h"
#include "viewer/draw/ui.h"
#include "viewer/platform/offscreen.h"

namespace tutti::viewer {

class Player {
 public:
  // The state must live longer. kUnavailable without EGL.
  static Result<std::unique_ptr<Player>> Create(State* state, int width, int height, float scale);
  ~Player();

  Status Play(const std::vector<ScriptLine>& lines);
  // Draws so many frames of a 60th of a second.
  void Frames(int count);
  // Of the frame that was drawn last.
  Image Picture() const { return offscreen_->Read(); }
  std::string Dump();
  Ui& ui() { return *ui_; }

 private:
  Player(State* state, std::unique_ptr<Offscreen> offscreen, float scale);
  Status Do(const ScriptLine& line);
  Status DoInput(const ScriptLine& line);
  Status DoView(const ScriptLine& line);

  State& state_;
  std::unique_ptr<Offscreen> offscreen_;
  std::unique_ptr<Ui> ui_;
};

Status WriteTextTo(const std::string& path, const std::string& text);

}  // namespace tutti::viewer
