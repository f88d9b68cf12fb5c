#include "collector/convert/communicator_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace tutti::collector::convert {
namespace {

constexpr uint32_t kFirstNcclNumber = 1u << 31;  // the tracer counts from 1

std::string Hex(uint64_t value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

void SetIfKnown(std::optional<std::string>& field, std::string_view text) {
  if (!text.empty()) field = std::string(text);
}

}  // namespace

const char* BackendName(wire::Backend backend) {
  switch (backend) {
    case wire::Backend::kGloo:
      return "gloo";
    case wire::Backend::kNccl:
      return "nccl";
    case wire::Backend::kMpi:
      return "mpi";
    case wire::Backend::kUcc:
      return "ucc";
    case wire::Backend::kUnknown:
      break;
  }
  return "unknown";
}

std::optional<std::string> RankListToJson(std::string_view list) {
  bool digit_before = false;
  for (const char c : list) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && !(c == ',' && digit_before)) return std::nullopt;
    digit_before = is_digit;
  }
  if (!digit_before) return std::nullopt;
  return "[" + std::string(list) + "]";
}

void CommunicatorTable::Announce(const wire::CommunicatorRecord& record,
                                 const StringTable& strings) {
  if (record.communicator == 0) return;
  Communicator& entry = communicators_[record.communicator];
  entry.row.id = record.communicator;
  if (record.backend != wire::Backend::kUnknown) entry.backend = record.backend;
  entry.row.backend = BackendName(entry.backend);
  SetIfKnown(entry.row.uid, strings.TextOf(record.header.name));
  SetIfKnown(entry.row.description, strings.TextOf(record.description));
  if (record.rank >= 0) entry.row.group_rank = record.rank;
  if (record.size > 0) entry.row.group_size = record.size;
  if (auto ranks = RankListToJson(strings.TextOf(record.global_ranks))) {
    entry.row.global_ranks = std::move(ranks);
  }
  entry.changed = true;
}

uint32_t CommunicatorTable::NumberOfNccl(uint64_t hash) {
  const auto next = static_cast<uint32_t>(kFirstNcclNumber + nccl_.size());
  const auto [place, is_new] = nccl_.try_emplace(hash, next);
  if (!is_new) return place->second;
  Communicator& entry = communicators_[next];
  entry.row.id = next;
  entry.backend = wire::Backend::kNccl;
  entry.row.backend = BackendName(entry.backend);
  entry.row.uid = Hex(hash);
  return next;
}

void CommunicatorTable::AnnounceNccl(uint64_t hash, int64_t rank, int64_t size) {
  Communicator& entry = communicators_[NumberOfNccl(hash)];
  entry.row.group_rank = rank;
  entry.row.group_size = size;
  entry.changed = true;
}

void CommunicatorTable::NumberPerBackend() {
  std::map<wire::Backend, int64_t> next;
  for (auto& [number, entry] : communicators_) {
    const int64_t ordinal = next[entry.backend]++;
    if (entry.row.ordinal != ordinal) entry.changed = true;
    entry.row.ordinal = ordinal;
  }
}

std::optional<int64_t> CommunicatorTable::IdOf(uint32_t communicator) const {
  if (!communicators_.contains(communicator)) return std::nullopt;
  return communicator;
}

wire::Backend CommunicatorTable::BackendOf(uint32_t communicator) const {
  const auto entry = communicators_.find(communicator);
  return entry == communicators_.end() ? wire::Backend::kUnknown : entry->second.backend;
}

void CommunicatorTable::WriteChanged(RowOutput& rows) {
  NumberPerBackend();
  for (auto& [number, entry] : communicators_) {
    if (!entry.changed) continue;
    entry.changed = false;
    rows.Append(entry.row);
  }
}

}  // namespace tutti::collector::convert
