#include "collector/importers/flight_recorder/group_status.h"

#include <algorithm>
#include <charconv>

namespace tutti::collector::importers::flight_recorder {
namespace {

struct Numbered {
  int64_t number;
  size_t place;
};

std::optional<int64_t> WholeNumber(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Nothing if some text is no number.
template <typename Items, typename TextOf>
std::optional<std::vector<Numbered>> ByNumber(const Items& items, TextOf text_of) {
  std::vector<Numbered> numbered;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::optional<int64_t> number = WholeNumber(text_of(items[i]));
    if (!number) return std::nullopt;
    numbered.push_back({*number, i});
  }
  std::sort(numbered.begin(), numbered.end(),
            [](const Numbered& a, const Numbered& b) { return a.number < b.number; });
  return numbered;
}

// Group of each state as far as entries tell it.
using Assignment = std::vector<std::optional<size_t>>;

// Pairs what lies between two known pairs, given as positions in both orders.
void PairBetween(std::span<const Numbered> ids, std::span<const Numbered> names,
                 Assignment& assignment) {
  if (ids.size() != names.size()) return;
  for (size_t i = 0; i < ids.size(); ++i) assignment[ids[i].place] = names[i].place;
}

void PairInOrder(std::span<const StatusOfId> states, const std::vector<Group>& groups,
                 Assignment& assignment) {
  const auto ids = ByNumber(states, [](const StatusOfId& status) { return status.id; });
  const auto names = ByNumber(groups, [](const Group& group) { return group.name; });
  if (!ids || !names) return;
  const Assignment known = assignment;
  size_t id_begin = 0;
  size_t name_begin = 0;
  for (size_t i = 0; i < ids->size(); ++i) {
    const std::optional<size_t> group = known[(*ids)[i].place];
    if (!group) continue;
    const auto name = std::find_if(names->begin(), names->end(),
                                   [&](const Numbered& n) { return n.place == *group; });
    const auto at = static_cast<size_t>(name - names->begin());
    if (at < name_begin) return;  // not in order at all
    PairBetween(std::span(*ids).subspan(id_begin, i - id_begin),
                std::span(*names).subspan(name_begin, at - name_begin), assignment);
    id_begin = i + 1;
    name_begin = at + 1;
  }
  PairBetween(std::span(*ids).subspan(id_begin), std::span(*names).subspan(name_begin), assignment);
}

}  // namespace

int64_t AssignStatus(std::span<const StatusOfId> states,
                     const std::map<std::string, size_t>& group_of_id, std::vector<Group>& groups) {
  Assignment assignment(states.size());
  for (size_t i = 0; i < states.size(); ++i) {
    const auto known = group_of_id.find(states[i].id);
    if (known != group_of_id.end()) assignment[i] = known->second;
  }
  PairInOrder(states, groups, assignment);
  int64_t unmatched = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    if (!assignment[i]) {
      ++unmatched;
      continue;
    }
    Group& group = groups[*assignment[i]];
    group.last_enqueued = states[i].last_enqueued;
    group.last_started = states[i].last_started;
    group.last_completed = states[i].last_completed;
  }
  return unmatched;
}

}  // namespace tutti::collector::importers::flight_recorder
