// Pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::viewer {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgba;  // rows from the top
};

Status WritePng(const Image& image, const std::string& path);
Result<Image> ReadPng(const std::string& path);

}  // namespace tutti::viewer
