#include "viewer/platform/picture.h"

#include <GL/gl.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace tutti::viewer {

Image ReadFramebuffer(int width, int height) {
  Image image{width, height, {}};
  const size_t row_bytes = static_cast<size_t>(width) * 4;
  image.rgba.resize(row_bytes * static_cast<size_t>(height));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, image.rgba.data());
  // OpenGL counts rows from the bottom.
  for (size_t top = 0, bottom = static_cast<size_t>(height); top < --bottom; ++top) {
    std::swap_ranges(image.rgba.begin() + static_cast<std::ptrdiff_t>(top * row_bytes),
                     image.rgba.begin() + static_cast<std::ptrdiff_t>((top + 1) * row_bytes),
                     image.rgba.begin() + static_cast<std::ptrdiff_t>(bottom * row_bytes));
  }
  for (size_t i = 3; i < image.rgba.size(); i += 4) image.rgba[i] = 255;
  return image;
}

Result<std::string> KeepPicture(const Image& image, const std::string& folder,
                                const std::string& name) {
  std::string stem;
  for (const char c : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ||
                          c == '_' || (c == '.' && !stem.empty());
    if (is_plain) stem += c;
  }
  if (stem.empty()) stem = "tutti";
  const std::filesystem::path base = std::filesystem::path(folder) / stem;
  std::string path = base.string() + ".png";
  std::error_code error;
  for (int i = 2; std::filesystem::exists(path, error); ++i) {
    path = base.string() + "-" + std::to_string(i) + ".png";
  }
  TUTTI_RETURN_IF_ERROR(WritePng(image, path));
  return std::filesystem::absolute(path, error).lexically_normal().string();
}

}  // namespace tutti::viewer
