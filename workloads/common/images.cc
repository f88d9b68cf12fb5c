#include "workloads/common/images.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string_view>

namespace tutti::workloads {
namespace {

constexpr int kDigitSide = 8;
constexpr int kDigitMax = 16;
using Digit = std::array<uint8_t, size_t{kDigitSide} * kDigitSide>;

[[noreturn]] void Fail(const std::filesystem::path& file, const std::string& what) {
  throw std::runtime_error(file.string() + ": " + what);
}

std::string ReadFile(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) Fail(file, "cannot be opened");
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The payload of an IDX file (big-endian: magic, sizes, bytes) after checking its header
// against |magic| and |tail_sizes|, the sizes of all dimensions but the first.
std::vector<uint8_t> ReadIdx(const std::filesystem::path& file, uint32_t magic,
                             const std::vector<uint32_t>& tail_sizes) {
  const std::string bytes = ReadFile(file);
  const auto word = [&](size_t index) {
    uint32_t value = 0;
    for (size_t i = 4 * index; i < 4 * index + 4; ++i) {
      value = value << 8 | static_cast<uint8_t>(bytes[i]);
    }
    return value;
  };
  const size_t header_bytes = 4 * (2 + tail_sizes.size());
  if (bytes.size() < header_bytes) Fail(file, "too short for an IDX file");
  if (word(0) != magic) Fail(file, "not an IDX file of the expected kind (is it compressed?)");
  size_t expected = word(1);
  for (size_t i = 0; i < tail_sizes.size(); ++i) {
    if (word(2 + i) != tail_sizes[i]) Fail(file, "images are not 28 x 28");
    expected *= tail_sizes[i];
  }
  if (bytes.size() - header_bytes != expected) Fail(file, "size does not match its header");
  return {bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes), bytes.end()};
}

// Reads one line of the digits table; returns the label.
uint8_t ParseDigit(std::string_view line, Digit& digit, const std::filesystem::path& file) {
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto next = [&](unsigned max, char terminator) {
    unsigned value = 0;
    const auto [after, error] = std::from_chars(at, end, value);
    const bool terminated = terminator ? after != end && *after == terminator : after == end;
    if (error != std::errc() || value > max || !terminated) {
      Fail(file, "not a line of digits: '" + std::string(line.substr(0, 40)) + "'");
    }
    at = after + (terminator ? 1 : 0);
    return static_cast<uint8_t>(value);
  };
  for (uint8_t& pixel : digit) pixel = next(kDigitMax, ',');
  return next(kImageClasses - 1, '\0');
}

// Position in the small image that pixel |i| of the large one lies at: centres map to centres.
struct Sample {
  int low, high;  // neighbouring small pixels
  float weight;   // of |high|
};
Sample SampleAt(int i) {
  const float at = (static_cast<float>(i) + 0.5f) * kDigitSide / kImageSide - 0.5f;
  const float clamped = std::clamp(at, 0.0f, static_cast<float>(kDigitSide - 1));
  const int low = static_cast<int>(clamped);
  return {low, std::min(low + 1, kDigitSide - 1), clamped - static_cast<float>(low)};
}

void AppendUpscaled(const Digit& digit, std::vector<uint8_t>& pixels) {
  const auto value = [&](int row, int column) {
    return static_cast<float>(
        digit[static_cast<size_t>(row) * kDigitSide + static_cast<size_t>(column)]);
  };
  for (int row = 0; row < kImageSide; ++row) {
    const Sample y = SampleAt(row);
    for (int column = 0; column < kImageSide; ++column) {
      const Sample x = SampleAt(column);
      const float top = std::lerp(value(y.low, x.low), value(y.low, x.high), x.weight);
      const float bottom = std::lerp(value(y.high, x.low), value(y.high, x.high), x.weight);
      const float level = std::lerp(top, bottom, y.weight) / kDigitMax;
      pixels.push_back(static_cast<uint8_t>(std::lround(level * 255.0f)));
    }
  }
}

// Where ./dev keeps the digits table (tools/setup/lib.sh says the same).
std::filesystem::path CachedDigits() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): at start-up
    return std::string(value ? value : "");
  };
  std::filesystem::path cache = variable("TUTTI_CACHE");
  if (cache.empty()) {
    const std::filesystem::path base = variable("XDG_CACHE_HOME");
    cache = (base.empty() ? std::filesystem::path(variable("HOME")) / ".cache" : base) / "tutti";
  }
  return cache / "data" / "digits.csv";
}

}  // namespace

ImageSet LoadMnist(const std::filesystem::path& dir) {
  ImageSet set;
  set.pixels = ReadIdx(dir / "train-images-idx3-ubyte", 0x803, {kImageSide, kImageSide});
  set.labels = ReadIdx(dir / "train-labels-idx1-ubyte", 0x801, {});
  if (set.pixels.size() != set.labels.size() * kImagePixels || set.labels.empty()) {
    Fail(dir, "images and labels are not of one number");
  }
  if (*std::max_element(set.labels.begin(), set.labels.end()) >= kImageClasses) {
    Fail(dir / "train-labels-idx1-ubyte", "a label is above 9");
  }
  set.description = std::to_string(set.size()) + " MNIST images from " + dir.string();
  return set;
}

ImageSet LoadDigits(const std::filesystem::path& csv) {
  ImageSet set;
  const std::string text = ReadFile(csv);
  std::string_view rest = text;
  Digit digit;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    set.labels.push_back(ParseDigit(rest.substr(0, end), digit, csv));
    AppendUpscaled(digit, set.pixels);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (set.labels.empty()) Fail(csv, "is empty");
  set.description = std::to_string(set.size()) +
                    " UCI handwritten digits, 8 x 8 upscaled to 28 x 28, from " + csv.string();
  return set;
}

ImageSet GenerateImages(size_t count, uint32_t seed) {
  std::mt19937 random(seed);  // its raw output is the same with every standard library
  std::vector<uint8_t> patterns(kImagePixels * kImageClasses);
  for (uint8_t& pixel : patterns) pixel = random() % 4 == 0 ? 200 : 0;

  ImageSet set;
  for (size_t image = 0; image < count; ++image) {
    const size_t label = random() % kImageClasses;
    set.labels.push_back(static_cast<uint8_t>(label));
    for (size_t pixel = 0; pixel < kImagePixels; ++pixel) {
      const auto noise = random() % 56;
      set.pixels.push_back(static_cast<uint8_t>(patterns[label * kImagePixels + pixel] + noise));
    }
  }
  set.description = std::to_string(count) + " generated images (neither MNIST nor digits given)";
  return set;
}

ImageSet LoadImages(const std::string& data_dir) {
  if (!data_dir.empty()) return LoadMnist(data_dir);
  const std::filesystem::path digits = CachedDigits();
  if (std::filesystem::exists(digits)) return LoadDigits(digits);
  constexpr size_t kGenerated = 2048;
  constexpr uint32_t kSeed = 1;
  return GenerateImages(kGenerated, kSeed);
}

}  // namespace tutti::workloads
