#include "workloads/common/images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace tutti::workloads {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class ImagesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tutti-images-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(dir_ / name, std::ios::binary) << bytes;
  }

  std::filesystem::path dir_;
};

std::string BigEndian(std::initializer_list<uint32_t> words) {
  std::string bytes;
  for (const uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift);
  }
  return bytes;
}

template <typename Function>
std::string ErrorOf(Function function) {
  try {
    function();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST_F(ImagesTest, ReadsMnistFiles) {
  Write("train-images-idx3-ubyte", BigEndian({0x803, 2, 28, 28}) + std::string(kImagePixels, 1) +
                                       std::string(kImagePixels, 2));
  Write("train-labels-idx1-ubyte", BigEndian({0x801, 2}) + "\x07\x03");
  const ImageSet set = LoadMnist(dir_);
  EXPECT_THAT(set.labels, ElementsAre(7, 3));
  ASSERT_EQ(set.pixels.size(), 2 * kImagePixels);
  EXPECT_EQ(set.pixels.front(), 1);
  EXPECT_EQ(set.pixels.back(), 2);
  EXPECT_THAT(set.description, HasSubstr("2 MNIST images"));
}

TEST_F(ImagesTest, RefusesDamagedMnistFiles) {
  const std::string header = BigEndian({0x803, 1, 28, 28});
  const std::string image(kImagePixels, 0);
  Write("train-labels-idx1-ubyte", BigEndian({0x801, 1}) + "\x01");
  const auto load = [&] { LoadMnist(dir_); };

  EXPECT_THAT(ErrorOf(load), HasSubstr("train-images-idx3-ubyte: cannot be opened"));
  Write("train-images-idx3-ubyte", header.substr(0, 9));
  EXPECT_THAT(ErrorOf(load), HasSubstr("too short"));
  Write("train-images-idx3-ubyte", "\x1f\x8b" + header + image);
  EXPECT_THAT(ErrorOf(load), HasSubstr("compressed?"));
  Write("train-images-idx3-ubyte", BigEndian({0x803, 1, 32, 28}) + image);
  EXPECT_THAT(ErrorOf(load), HasSubstr("not 28 x 28"));
  Write("train-images-idx3-ubyte", header + image.substr(1));
  EXPECT_THAT(ErrorOf(load), HasSubstr("does not match its header"));
  Write("train-images-idx3-ubyte", BigEndian({0x803, 2, 28, 28}) + image + image);
  EXPECT_THAT(ErrorOf(load), HasSubstr("not of one number"));
  Write("train-images-idx3-ubyte", header + image);
  Write("train-labels-idx1-ubyte", BigEndian({0x801, 1}) + "\x0a");
  EXPECT_THAT(ErrorOf(load), HasSubstr("label is above 9"));
}

// A row of 64 equal pixels and a label.
std::string DigitLine(int level, int label) {
  std::string line;
  for (int i = 0; i < 64; ++i) line += std::to_string(level) + ",";
  return line + std::to_string(label) + "\n";
}

TEST_F(ImagesTest, UpscalesDigitsToTheFullRange) {
  Write("digits.csv", DigitLine(16, 4) + DigitLine(0, 9));
  const ImageSet set = LoadDigits(dir_ / "digits.csv");
  EXPECT_THAT(set.labels, ElementsAre(4, 9));
  ASSERT_EQ(set.pixels.size(), 2 * kImagePixels);
  const auto second = set.pixels.begin() + static_cast<std::ptrdiff_t>(kImagePixels);
  EXPECT_THAT(std::vector<uint8_t>(set.pixels.begin(), second), Each(255));
  EXPECT_THAT(std::vector<uint8_t>(second, set.pixels.end()), Each(0));
}

TEST_F(ImagesTest, InterpolatesBetweenDigitPixels) {
  // Left half of every row dark, right half bright: rows stay alike, columns never fall.
  std::string line;
  for (int i = 0; i < 64; ++i) line += i % 8 < 4 ? "0," : "16,";
  Write("digits.csv", line + "1\n");
  const ImageSet set = LoadDigits(dir_ / "digits.csv");
  const auto row = [&](int index) {
    const auto begin = set.pixels.begin() + index * kImageSide;
    return std::vector<uint8_t>(begin, begin + kImageSide);
  };
  EXPECT_EQ(row(0), row(27));
  EXPECT_TRUE(std::ranges::is_sorted(row(0)));
  EXPECT_EQ(row(0).front(), 0);
  EXPECT_EQ(row(0).back(), 255);
  EXPECT_EQ(std::ranges::count_if(row(0), [](uint8_t p) { return p > 0 && p < 255; }), 4);
}

TEST_F(ImagesTest, RefusesDamagedDigits) {
  const auto load = [&] { LoadDigits(dir_ / "digits.csv"); };
  for (const std::string& text :
       {std::string("1,2,3\n"), DigitLine(17, 1), DigitLine(1, 10), DigitLine(1, 1) + "x"}) {
    Write("digits.csv", text);
    EXPECT_THAT(ErrorOf(load), HasSubstr("not a line of digits")) << text;
  }
  Write("digits.csv", "");
  EXPECT_THAT(ErrorOf(load), HasSubstr("is empty"));
}

TEST(GenerateImages, RepeatsForOneSeedAndHasEveryClass) {
  const ImageSet set = GenerateImages(200, 5);
  EXPECT_EQ(set.pixels, GenerateImages(200, 5).pixels);
  EXPECT_NE(set.pixels, GenerateImages(200, 6).pixels);
  for (uint8_t label = 0; label < kImageClasses; ++label) {
    EXPECT_GT(std::ranges::count(set.labels, label), 0) << int{label};
  }
}

TEST_F(ImagesTest, ChoosesTheBestSetAtHandAndSaysWhich) {
  setenv("TUTTI_CACHE", dir_.c_str(), 1);
  EXPECT_THAT(LoadImages("").description, HasSubstr("generated"));
  std::filesystem::create_directory(dir_ / "data");
  Write("data/digits.csv", DigitLine(3, 1));
  EXPECT_THAT(LoadImages("").description, HasSubstr("UCI handwritten digits"));
  EXPECT_THAT(ErrorOf([&] { LoadImages(dir_ / "absent"); }), HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace tutti::workloads
