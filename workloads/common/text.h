// Text to train language models on, a token a character. Std only.
// Throws std::runtime_error with the file and the mistake if there is nothing to read.
#ifndef TUTTI_WORKLOADS_COMMON_TEXT_H_
#define TUTTI_WORKLOADS_COMMON_TEXT_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::workloads {

struct Text {
  std::string description;      // what it is and where it is from, for the user
  std::vector<uint8_t> tokens;  // each below |vocabulary|
  int64_t vocabulary = 0;       // distinct characters (bytes)
};

// Numbers the bytes that occur, in ascending order.
Text Tokenize(std::string_view characters, std::string description);

// All of |file|; if it is empty, the licences that Debian ships, one after the other by name.
Text LoadText(const std::filesystem::path& file);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_TEXT_H_
