// What a program did on the GPU, to the count, as one line of JSON that tools/gpu_check compares
// with the rows of the trace. One thread.
//
//   {"program":"copies","rank":0,"expect":[{"what":"…","table":"memcpy","where":{"copy_kind":
//   "HtoD"},"count":8,"bytes":8388608,"least_ns":1,"most_ns":9}]}
//
// Each expectation is about the rows of |table| whose columns equal |where|'s values (`name` is
// the text of name_id; a text with % is a pattern of LIKE): how many there are, the sum of their
// bytes, and between which times the length of each lies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::gpu {

struct Expectation {
  std::string what;  // in words, for the table that is printed
  std::string table;
  std::vector<std::pair<std::string, std::string>> texts = {};  // column and its value
  std::vector<std::pair<std::string, int64_t>> numbers = {};
  int64_t count = 0;
  std::optional<int64_t> bytes = {};     // sum of the column `bytes`
  std::optional<int64_t> least_ns = {};  // of each row
  std::optional<int64_t> most_ns = {};
};

class Truth {
 public:
  explicit Truth(std::string program) : program_(std::move(program)) {}

  void Expect(Expectation expectation) { expectations_.push_back(std::move(expectation)); }
  // |count| calls of a function of the runtime, which returned |result|.
  void ExpectCalls(const std::string& function, int64_t count, int64_t result = 0);

  std::string Json() const;

 private:
  std::string program_;
  std::vector<Expectation> expectations_;
};

}  // namespace tutti::gpu
