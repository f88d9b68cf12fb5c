// Where real traces and the figures of other tools are, and runs imported from them.
// For tests only; failures abort the test program.
#pragma once

#include <string>
#include <vector>

#include "schema/testing/scratch.h"

namespace tutti::golden {

// The folder with traces/ and goldens/; "" if there is none.
std::string SharedFolder();

// A run imported from trace files (relative to traces/), deleted with the object.
class ImportedRun {
 public:
  explicit ImportedRun(const std::vector<std::string>& traces);

  std::string RankFile(int rank) const;
  const std::string& path() const { return path_; }

 private:
  schema::testing::Scratch scratch_;
  std::string path_;
};

}  // namespace tutti::golden

// Ends the test as skipped, with a message, where there is no such folder.
#define TUTTI_NEEDS_SHARED_DATA()                                             \
  if (::tutti::golden::SharedFolder().empty()) {                              \
    GTEST_SKIP() << "no traces: ../shared is missing and TUTTI_SHARED unset"; \
  }
