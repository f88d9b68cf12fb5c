#include "viewer/platform/window.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>
#include <memory>

#include "viewer/draw/ui.h"
#include "viewer/platform/picture.h"

namespace tutti::viewer {
namespace {

constexpr double kIdleSeconds = 0.5;     // between frames when nothing happens
constexpr double kLoadingSeconds = 0.1;  // the same while ranks are loaded
constexpr int kFramesAfterInput = 4;     // until hovers and panels have settled

struct Library {
  bool is_ready = glfwInit() == GLFW_TRUE;
  ~Library() {
    if (is_ready) glfwTerminate();
  }
};

struct CloseWindow {
  void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using WindowPointer = std::unique_ptr<GLFWwindow, CloseWindow>;

struct Backends {
  explicit Backends(GLFWwindow* window) {
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    ImGui_ImplOpenGL3_Init("#version 330");
  }
  ~Backends() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
  }
  Backends(const Backends&) = delete;
  Backends& operator=(const Backends&) = delete;
};

std::string GlfwReason() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text != nullptr ? text : "no reason given";
}

float ScaleOf(GLFWwindow* window, const ViewOptions& options) {
  if (options.scale > 0) return static_cast<float>(options.scale);
  float x = 1;
  float y = 1;
  glfwGetWindowContentScale(window, &x, &y);
  return std::max(1.0F, x);
}

void DrawFrame(GLFWwindow* window, Ui* ui) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  ui->Draw();
  ImGui::Render();
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  const ImVec4 back = ui->background();
  glViewport(0, 0, width, height);
  glClearColor(back.x, back.y, back.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  if (ui->TakePictureWish()) {
    ui->TellOfPicture(KeepPicture(ReadFramebuffer(width, height), ".", ui->PictureName()));
  }
  glfwSwapBuffers(window);
}

}  // namespace

Status RunWindow(State* state, const ViewOptions& options) {
  const Library library;
  if (!library.is_ready) {
    return UnavailableError("no window can be opened (" + GlfwReason() +
                            "); --offscreen draws into a file");
  }
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  const std::string title = "tutti: " + options.title;
  const WindowPointer window(
      glfwCreateWindow(options.width, options.height, title.c_str(), nullptr, nullptr));
  if (window == nullptr) return UnavailableError("no OpenGL window: " + GlfwReason());
  glfwMakeContextCurrent(window.get());
  glfwSwapInterval(1);
  Ui ui(state, {.scale = ScaleOf(window.get(), options), .layout_file = options.layout_file});
  const Backends backends(window.get());
  int frames_to_draw = kFramesAfterInput;
  while (glfwWindowShouldClose(window.get()) == GLFW_FALSE) {
    // A still picture costs nothing: without input there is a frame now and then.
    if (frames_to_draw > 0 || state->is_gliding()) {
      glfwPollEvents();
      frames_to_draw = std::max(0, frames_to_draw - 1);
    } else {
      glfwWaitEventsTimeout(state->session().is_complete() ? kIdleSeconds : kLoadingSeconds);
      frames_to_draw = kFramesAfterInput;
    }
    DrawFrame(window.get(), &ui);
  }
  return OkStatus();
}

}  // namespace tutti::viewer
