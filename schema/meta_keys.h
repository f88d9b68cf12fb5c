// The keys of table `meta`: facts about a rank's file. A writer that adds one adds it
// here, and docs/schema.md tells it. Callable from any thread.
#pragma once

#include <span>
#include <string_view>

namespace tutti::schema {

struct MetaKey {
  std::string_view key;
  std::string_view meaning;
};

// By key.
std::span<const MetaKey> MetaKeys();
bool IsMetaKey(std::string_view key);

}  // namespace tutti::schema
