// Real and made-up dumps, snapshots and timelines imported as a user does, with what an
// independent reader says of them. For tests only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "schema/testing/scratch.h"

namespace tutti::pickles {

// The folder with traces/ and cases/; "" if there is none.
std::string SharedFolder();

// What `kind` of count.py says of the file.
nlohmann::json Count(const std::string& kind, const std::string& file);

// The facts of a case: the JSON block of its expected.md.
nlohmann::json FactsOf(const std::string& case_folder);

class Imported {
 public:
  // Imports into a run that is deleted with the object. Where that fails, error() says why.
  explicit Imported(const std::vector<std::string>& inputs);

  const std::string& error() const { return error_; }
  const std::vector<std::string>& messages() const { return messages_; }
  size_t traces() const { return files_.size(); }

  // Answers as text: one line a row, columns apart by "|", NULL as "". Of the i-th trace,
  // or of the analysis.
  std::string Query(size_t trace, const std::string& sql) const;
  std::string Derived(const std::string& sql);
  std::string Report();

 private:
  void Analyze();

  schema::testing::Scratch scratch_;
  std::string error_;
  std::vector<std::string> messages_;
  std::vector<std::string> files_;
  std::string run_;
  std::string analysis_;
};

}  // namespace tutti::pickles

// Ends the test as skipped, with a message, where there is no such folder.
#define TUTTI_NEEDS_SHARED_DATA()                                             \
  if (::tutti::pickles::SharedFolder().empty()) {                             \
    GTEST_SKIP() << "no traces: ../shared is missing and TUTTI_SHARED unset"; \
  }
