#include "workloads/common/text.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tutti::workloads {
namespace {

namespace fs = std::filesystem;

// Of the package base-files, which no Debian system is without.
constexpr const char* kLicences = "/usr/share/common-licenses";

std::string ReadAll(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (!stream || text.empty()) throw std::runtime_error(file.string() + ": no text in it");
  return text;
}

// Symbolic links there are second names of the same texts.
std::vector<fs::path> Licences() {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(kLicences, error)) {
    if (!entry.is_symlink() && entry.is_regular_file()) files.push_back(entry.path());
  }
  if (files.empty()) {
    throw std::runtime_error(std::string(kLicences) + ": no licences there; give --data FILE");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Text Tokenize(std::string_view characters, std::string description) {
  std::array<bool, 256> occurs{};
  for (const char c : characters) occurs[static_cast<uint8_t>(c)] = true;
  std::array<uint8_t, 256> numbers{};
  Text text;
  for (size_t byte = 0; byte < occurs.size(); ++byte) {
    if (occurs[byte]) numbers[byte] = static_cast<uint8_t>(text.vocabulary++);
  }
  text.tokens.reserve(characters.size());
  for (const char c : characters) text.tokens.push_back(numbers[static_cast<uint8_t>(c)]);
  text.description = std::to_string(text.tokens.size()) + " characters, " +
                     std::to_string(text.vocabulary) + " distinct, of " + std::move(description);
  return text;
}

Text LoadText(const fs::path& file) {
  if (!file.empty()) return Tokenize(ReadAll(file), file.string());
  std::string all;
  const std::vector<fs::path> licences = Licences();
  for (const fs::path& licence : licences) all += ReadAll(licence);
  return Tokenize(all, std::to_string(licences.size()) + " licences from " + kLicences);
}

}  // namespace tutti::workloads
