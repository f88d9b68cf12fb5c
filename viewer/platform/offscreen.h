// An OpenGL context without a window or a display server (EGL surfaceless), with a picture to draw
// into. Belongs to the thread that made it.
#pragma once

#include <memory>

#include "common/status.h"
#include "viewer/platform/png.h"

namespace tutti::viewer {

class Offscreen {
 public:
  // kUnavailable if this machine has no EGL that can do it.
  static Result<std::unique_ptr<Offscreen>> Create(int width, int height);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  int width() const { return width_; }
  int height() const { return height_; }
  Status Resize(int width, int height);
  // What is drawn next goes into the picture, over `rgb`.
  void Clear(float red, float green, float blue);
  Image Read() const;

 private:
  Offscreen() = default;

  void* display_ = nullptr;
  void* context_ = nullptr;
  int width_ = 0;
  int height_ = 0;
  unsigned int framebuffer_ = 0;
  unsigned int color_ = 0;
};

}  // namespace tutti::viewer
