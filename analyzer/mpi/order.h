// What the processes of a team tell each other, as bytes between processes of one build.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/run_context.h"
#include "analyzer/run_files.h"
#include "analyzer/shard.h"
#include "common/status.h"

namespace tutti::analyzer::mpi {

// The leader's: run these passes over these ranks. Their derived tables follow apart.
struct Order {
  size_t first = 0;   // of AllPasses()
  size_t passes = 0;  // how many
  std::vector<int64_t> ranks;
  std::string parts;  // folder for what is done
  std::string key;    // of what is kept there
  RunFiles files;
};
std::string Pack(const Order& order);
Result<Order> UnpackOrder(std::string_view bytes);

// Everybody's answer. The passes failed if `status` says so; nothing else counts then, but
// whose file it was.
struct Answer {
  Status status;
  std::optional<size_t> failed_file;  // index into Order::files
  int64_t resumed = 0;                // ranks that were found done
  RunContext::BadTables bad;
  ShardRows rows;
};
std::string Pack(const Answer& answer);
Result<Answer> UnpackAnswer(std::string_view bytes);

}  // namespace tutti::analyzer::mpi
