// Answers of SQL about an analyzed run as text, to compare with what is expected at a
// glance. For tests only; failures abort the test program.
#pragma once

#include <string>
#include <utility>

#include "analyzer/testing/trace_builder.h"

namespace tutti::analyzer::testing {

// Analyzes the run and keeps the derived tables open.
class Derived {
 public:
  explicit Derived(const RunFolder& run);
  // An analysis that is there.
  static Derived Open(std::string path) { return Derived(std::move(path)); }

  // One line a row, columns apart by "|", NULL as "".
  std::string Query(const std::string& sql) const;

  const std::string& path() const { return path_; }

 private:
  explicit Derived(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace tutti::analyzer::testing
