// Which ids texts have, by hash: a large trace has many long names, and 128 bits do not collide by
// accident. Memory is bounded: of texts beyond kMostTexts, those that nobody has asked for lately
// are forgotten, and get another id when they come again. One thread.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace tutti::collector::importers {

class TextIds {
 public:
  static constexpr size_t kMostTexts = size_t{1} << 20;
  explicit TextIds(size_t most_texts = kMostTexts) : most_in_generation_(most_texts / 2) {}

  // The place for the id of `text`, and whether it is to be filled. Valid until the next call.
  std::pair<int64_t&, bool> Of(std::string_view text) {
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    if (const auto found = young_.find(hash); found != young_.end()) return {found->second, false};
    if (young_.size() >= most_in_generation_) old_ = std::exchange(young_, {});
    const auto before = old_.find(hash);
    const bool is_new = before == old_.end();
    return {young_.emplace(hash, is_new ? 0 : before->second).first->second, is_new};
  }

 private:
  struct Hash128 {
    size_t operator()(const XXH128_hash_t& hash) const { return hash.low64; }
    bool operator()(const XXH128_hash_t& a, const XXH128_hash_t& b) const {
      return a.low64 == b.low64 && a.high64 == b.high64;
    }
  };
  using Generation = std::unordered_map<XXH128_hash_t, int64_t, Hash128, Hash128>;

  size_t most_in_generation_;
  Generation young_;  // asked for since the last generation was full
  Generation old_;    // only before that
};

}  // namespace tutti::collector::importers
