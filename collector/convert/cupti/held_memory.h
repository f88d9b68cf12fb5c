// What a process holds of each device's memory, by its allocations and releases. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace tutti::collector::convert::cupti {

class HeldMemory {
 public:
  using Place = std::pair<std::string, int64_t>;  // device type and number

  // The change of what is held: positive for an allocation, negative for a release, absent for
  // the release of memory that was allocated before capture. Sizes are what the process claims:
  // sums of hostile ones wrap.
  std::optional<int64_t> Apply(const Place& place, int64_t address, int64_t bytes,
                               bool is_allocation) {
    Blocks& blocks = places_[place];
    const auto known = blocks.bytes_at.find(address);
    if (!is_allocation && known == blocks.bytes_at.end()) return std::nullopt;
    const int64_t before = known == blocks.bytes_at.end() ? 0 : known->second;
    if (is_allocation) {
      blocks.bytes_at[address] = bytes;
    } else {
      blocks.bytes_at.erase(known);
    }
    const int64_t after = is_allocation ? bytes : 0;
    blocks.total += static_cast<uint64_t>(after) - static_cast<uint64_t>(before);
    return is_allocation ? bytes : static_cast<int64_t>(-static_cast<uint64_t>(before));
  }

  int64_t Bytes(const Place& place) const {
    const auto blocks = places_.find(place);
    return blocks == places_.end() ? 0 : static_cast<int64_t>(blocks->second.total);
  }

 private:
  struct Blocks {
    std::unordered_map<int64_t, int64_t> bytes_at;  // by address
    uint64_t total = 0;
  };
  std::map<Place, Blocks> places_;
};

}  // namespace tutti::collector::convert::cupti
