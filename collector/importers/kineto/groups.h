// Process groups of a trace -> communicator: gathered from distributedInfo, from the calls
// into c10d and from kernels, each of which may know a part. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/importers/kineto/context.h"

namespace tutti::collector::importers::kineto {

// Members as printed: "[0, 1, 2]", or with an ellipsis in the middle.
struct PrintedRanks {
  std::vector<int64_t> ranks;  // those that are printed
  bool is_elided = false;
};
PrintedRanks ParseRanks(std::string_view text);

// What one mention tells of a group; empty and absent: not told.
struct GroupFacts {
  std::string name;
  std::string description;
  std::string backend;
  std::string ranks;  // as printed
  std::optional<int64_t> size;
  std::optional<int64_t> first_rank;  // with the stride: members as a progression
  std::optional<int64_t> stride;
  std::optional<int64_t> own_rank;  // in the group
};

class Groups {
 public:
  explicit Groups(Context& context) : context_(context) {}

  // The communicator of an event with the arguments of a collective; absent if none is named.
  std::optional<int64_t> Of(const RawEvent& event);
  int64_t Add(const GroupFacts& facts);

  // For groups whose own backend is not told.
  void SetDefaultBackend(std::string_view backend) { default_backend_ = backend; }
  // Writes the communicators as seen by `rank`.
  void Finish(std::optional<int64_t> rank);

 private:
  struct Group {
    int64_t id = 0;
    GroupFacts facts;
    std::vector<int64_t> ranks;  // complete, or empty
  };

  void Learn(Group& group, const GroupFacts& facts);
  std::string BackendOf(const Group& group) const;

  Context& context_;
  std::map<std::string, Group> groups_;                // by name, or what else tells them apart
  std::map<std::string, int64_t, std::less<>> known_;  // tokens of mentions seen before
  std::string default_backend_;
  size_t members_left_ = 4'000'000;  // of all groups together
};

}  // namespace tutti::collector::importers::kineto
