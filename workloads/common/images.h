// Training images of handwritten digits, from the best source at hand. All sets have the shape
// of MNIST: 28 x 28 grey pixels and a label 0 to 9, so a model fits each of them.
// Throws std::runtime_error with the file and the mistake if a file is not what it must be.
#ifndef TUTTI_WORKLOADS_COMMON_IMAGES_H_
#define TUTTI_WORKLOADS_COMMON_IMAGES_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tutti::workloads {

inline constexpr int kImageSide = 28;
inline constexpr size_t kImagePixels = size_t{kImageSide} * kImageSide;
inline constexpr int kImageClasses = 10;

struct ImageSet {
  std::string description;      // what it is and where it is from, for the user
  std::vector<uint8_t> pixels;  // kImagePixels per image, row by row
  std::vector<uint8_t> labels;  // one per image
  size_t size() const { return labels.size(); }
};

// MNIST's training images: train-images-idx3-ubyte and train-labels-idx1-ubyte in |dir|.
ImageSet LoadMnist(const std::filesystem::path& dir);

// The UCI digits as a table: 64 pixels of 0 to 16 and the label a line, comma-separated; made
// 28 x 28 by bilinear interpolation.
ImageSet LoadDigits(const std::filesystem::path& csv);

// |count| noisy copies of one random pattern per class; the same for the same |seed|.
ImageSet GenerateImages(size_t count, uint32_t seed);

// MNIST from |data_dir| if that is not empty; else the digits that ./dev put into the cache;
// else a generated set. The description says which.
ImageSet LoadImages(const std::string& data_dir);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_IMAGES_H_
