#include "viewer/platform/offscreen.h"

#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

#include <array>
#include <cstdio>

#include "viewer/platform/picture.h"

namespace tutti::viewer {
namespace {

std::string EglError(const char* call) {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%s failed (EGL error 0x%04x)", call, eglGetError());
  return text.data();
}

Result<EGLContext> MakeContext(EGLDisplay display) {
  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                           EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (eglChooseConfig(display, wanted, &config, 1, &count) == EGL_FALSE || count == 0) {
    return UnavailableError("no OpenGL without a window: " + EglError("eglChooseConfig"));
  }
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                            3,
                            EGL_CONTEXT_MINOR_VERSION,
                            3,
                            EGL_CONTEXT_OPENGL_PROFILE_MASK,
                            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                            EGL_NONE};
  const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  if (context == EGL_NO_CONTEXT) {
    return UnavailableError("no OpenGL 3.3 without a window: " + EglError("eglCreateContext"));
  }
  return context;
}

}  // namespace

Result<std::unique_ptr<Offscreen>> Offscreen::Create(int width, int height) {
  const auto get_display = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
      eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (get_display == nullptr) return UnavailableError("EGL has no platform displays");
  const EGLDisplay display =
      get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE) {
    return UnavailableError("no display without a window: " + EglError("eglInitialize"));
  }
  std::unique_ptr<Offscreen> offscreen(new Offscreen());
  offscreen->display_ = display;
  eglBindAPI(EGL_OPENGL_API);
  TUTTI_ASSIGN_OR_RETURN(offscreen->context_, MakeContext(display));
  if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, offscreen->context_) == EGL_FALSE) {
    return UnavailableError(EglError("eglMakeCurrent"));
  }
  glGenFramebuffers(1, &offscreen->framebuffer_);
  glGenRenderbuffers(1, &offscreen->color_);
  TUTTI_RETURN_IF_ERROR(offscreen->Resize(width, height));
  return offscreen;
}

Offscreen::~Offscreen() {
  if (context_ != nullptr) {
    glDeleteRenderbuffers(1, &color_);
    glDeleteFramebuffers(1, &framebuffer_);
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
  }
  eglTerminate(display_);
}

Status Offscreen::Resize(int width, int height) {
  width_ = width;
  height_ = height;
  glBindRenderbuffer(GL_RENDERBUFFER, color_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color_);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    return UnavailableError("no picture of " + std::to_string(width) + "x" +
                            std::to_string(height) + " can be drawn");
  }
  return OkStatus();
}

void Offscreen::Clear(float red, float green, float blue) {
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glViewport(0, 0, width_, height_);
  glClearColor(red, green, blue, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

Image Offscreen::Read() const {
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  return ReadFramebuffer(width_, height_);
}

}  // namespace tutti::viewer
