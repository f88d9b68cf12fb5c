#include "workloads/common/rank_env.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <stdexcept>

namespace tutti::workloads {
namespace {

std::optional<std::string> Variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): at start-up
  return value ? std::optional<std::string>(value) : std::nullopt;
}

int ReadInt(const char* name, int low, int high, std::optional<int> fallback) {
  const std::optional<std::string> text = Variable(name);
  if (!text && fallback) return *fallback;
  if (!text) throw std::runtime_error("RANK is set but " + std::string(name) + " is not");
  int value = 0;
  const char* const end = text->data() + text->size();
  const auto [after, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || after != end || value < low || value > high) {
    throw std::runtime_error(std::string(name) + "='" + *text + "' is not a number from " +
                             std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

}  // namespace

RankEnv RankEnv::Read() {
  RankEnv env;
  if (!Variable("RANK")) return env;
  constexpr int kMaxRanks = 1 << 20;
  env.distributed = true;
  env.world_size = ReadInt("WORLD_SIZE", 1, kMaxRanks, std::nullopt);
  env.rank = ReadInt("RANK", 0, env.world_size - 1, std::nullopt);
  env.local_world_size = ReadInt("LOCAL_WORLD_SIZE", 1, env.world_size, env.world_size);
  env.local_rank = ReadInt("LOCAL_RANK", 0, env.local_world_size - 1, env.rank);
  env.master_port = static_cast<uint16_t>(ReadInt("MASTER_PORT", 1, 65535, std::nullopt));
  env.restart_count = ReadInt("TORCHELASTIC_RESTART_COUNT", 0, 1 << 30, 0);
  env.agent_serves_store = Variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  const std::optional<std::string> address = Variable("MASTER_ADDR");
  if (!address || address->empty()) throw std::runtime_error("RANK is set but MASTER_ADDR is not");
  env.master_addr = *address;
  return env;
}

}  // namespace tutti::workloads
