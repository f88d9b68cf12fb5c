// Runs an interface without a screen: input goes in, draw lists come out, nothing is drawn. For
// tests.
#pragma once

#include <imgui.h>

#include "viewer/draw/ui.h"

namespace tutti::viewer::testing {

class NullPlatform {
 public:
  explicit NullPlatform(Ui* ui, ImVec2 size = ImVec2(1400, 900)) : ui_(*ui) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = size;
    io.BackendFlags |=
        ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset;
  }
  ~NullPlatform() {
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
      texture->SetTexID(ImTextureID_Invalid);
      texture->SetStatus(ImTextureStatus_Destroyed);
    }
  }
  NullPlatform(const NullPlatform&) = delete;
  NullPlatform& operator=(const NullPlatform&) = delete;

  void Frame() {
    ImGui::GetIO().DeltaTime = 1.0F / 60;
    ImGui::NewFrame();
    ui_.Draw();
    ImGui::Render();
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
      if (texture->Status == ImTextureStatus_WantDestroy) {
        texture->SetTexID(ImTextureID_Invalid);
        texture->SetStatus(ImTextureStatus_Destroyed);
      } else if (texture->Status != ImTextureStatus_Destroyed) {
        texture->SetTexID(ImTextureID{1});
        texture->SetStatus(ImTextureStatus_OK);
      }
    }
  }

 private:
  Ui& ui_;
};

}  // namespace tutti::viewer::testing
