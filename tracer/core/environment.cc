#include "tracer/core/environment.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tutti::tracer {
namespace {

// The variables in which one launcher tells a process its place.
struct Launcher {
  const char* rank;
  const char* local_rank;
  const char* world_size;
};

constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMIX_RANK", "PMIX_LOCAL_RANK", "PMIX_SIZE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
    {"FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE"},
};
constexpr Launcher kTorchrun = {"RANK", "LOCAL_RANK", "WORLD_SIZE"};
constexpr Launcher kSlurm = {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"};

// The decimal number in |name|; -1 if it is unset, empty, negative or not a number.
int32_t ReadNumber(GetVariable get, const char* name) noexcept {
  const char* text = get(name);
  if (text == nullptr || *text < '0' || *text > '9') return -1;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  return *end == '\0' && value <= INT32_MAX ? static_cast<int32_t>(value) : -1;
}

template <size_t kSize>
void CopyText(char (&to)[kSize], const char* text) noexcept {
  std::snprintf(to, kSize, "%s", text);
}

bool TakeLauncher(GetVariable get, const Launcher& launcher, RankIdentity* identity) noexcept {
  const int32_t rank = ReadNumber(get, launcher.rank);
  if (rank < 0) return false;
  const int32_t size = ReadNumber(get, launcher.world_size);
  if (size >= 0 && rank >= size) return false;
  identity->rank = rank;
  identity->world_size = size;
  identity->local_rank = ReadNumber(get, launcher.local_rank);
  CopyText(identity->rank_variable, launcher.rank);
  return true;
}

bool TakeNamedVariable(GetVariable get, RankIdentity* identity) noexcept {
  const char* name = get("TUTTI_RANK_VAR");
  if (name == nullptr || *name == '\0') return false;
  identity->rank = ReadNumber(get, name);
  if (identity->rank < 0) return false;
  identity->local_rank = ReadNumber(get, "LOCAL_RANK");
  const int32_t size = ReadNumber(get, "WORLD_SIZE");
  identity->world_size = size > identity->rank ? size : -1;
  CopyText(identity->rank_variable, name);
  return true;
}

bool TakeTorchrun(GetVariable get, RankIdentity* identity) noexcept {
  return ReadNumber(get, kTorchrun.world_size) >= 0 && ReadNumber(get, kTorchrun.local_rank) >= 0 &&
         TakeLauncher(get, kTorchrun, identity);
}

bool TakeSlurm(GetVariable get, RankIdentity* identity) noexcept {
  return get("SLURM_STEP_ID") != nullptr && ReadNumber(get, kSlurm.world_size) > 1 &&
         TakeLauncher(get, kSlurm, identity);
}

void ResolveRank(GetVariable get, RankIdentity* identity) noexcept {
  if (TakeNamedVariable(get, identity) || TakeTorchrun(get, identity)) return;
  for (const Launcher& launcher : kLaunchers) {
    if (TakeLauncher(get, launcher, identity)) return;
  }
  TakeSlurm(get, identity);
}

// torchrun without --rdzv-id calls every run "none".
void ResolveRunId(GetVariable get, RankIdentity* identity) noexcept {
  const char* elastic = get("TORCHELASTIC_RUN_ID");
  if (elastic != nullptr && *elastic != '\0' && std::strcmp(elastic, "none") != 0) {
    return CopyText(identity->run_id, elastic);
  }
  if (const char* job = get("SLURM_JOB_ID"); job != nullptr && *job != '\0') {
    const char* step = get("SLURM_STEP_ID");
    std::snprintf(identity->run_id, sizeof(identity->run_id), "slurm %s.%s", job,
                  step != nullptr ? step : "batch");
    return;
  }
  const char* address = get("MASTER_ADDR");
  const char* port = get("MASTER_PORT");
  if (address != nullptr && port != nullptr) {
    std::snprintf(identity->run_id, sizeof(identity->run_id), "%s:%s", address, port);
  }
}

int HexDigit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

const char* SecureVariable(const char* name) { return secure_getenv(name); }

const char* ParseSession(const char* text, SessionAddress* address) noexcept {
  const char* colon = std::strrchr(text, ':');
  if (colon == nullptr || colon == text) return "TUTTI_SESSION is not PATH:TOKEN";
  const char* token = colon + 1;
  if (std::strlen(token) != 2 * sizeof(address->token)) return "TUTTI_SESSION's token is malformed";
  for (size_t i = 0; i < sizeof(address->token); ++i) {
    const int high = HexDigit(token[2 * i]);
    const int low = HexDigit(token[2 * i + 1]);
    if (high < 0 || low < 0) return "TUTTI_SESSION's token is malformed";
    address->token[i] = static_cast<uint8_t>(high << 4 | low);
  }
  const auto length = static_cast<size_t>(colon - text);
  if (length >= sizeof(address->socket.sun_path)) return "the path in TUTTI_SESSION is too long";
  address->socket = {};
  address->socket.sun_family = AF_UNIX;
  std::memcpy(address->socket.sun_path, text, length);
  return nullptr;
}

RankIdentity ReadIdentity(GetVariable get) noexcept {
  RankIdentity identity;
  ResolveRank(get, &identity);
  if (identity.local_rank < 0) identity.local_rank = ReadNumber(get, "LOCAL_RANK");
  const int32_t attempt = ReadNumber(get, "TUTTI_RANK_ATTEMPT");
  const int32_t restarts = ReadNumber(get, "TORCHELASTIC_RESTART_COUNT");
  identity.attempt = attempt >= 0 ? attempt : restarts >= 0 ? restarts : 0;
  ResolveRunId(get, &identity);
  return identity;
}

}  // namespace tutti::tracer
