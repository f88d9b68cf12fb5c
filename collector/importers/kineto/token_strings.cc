#include "collector/importers/kineto/token_strings.h"

#include <string>
#include <utility>

#include "collector/conventions/range_name.h"
#include "collector/importers/kineto/json_text.h"

namespace tutti::collector::importers::kineto {
namespace {

// The engine's range around a backward function is a function itself.
constexpr std::string_view kEngineRange = "autograd::engine::evaluate_function";
constexpr std::string_view kAccumulate = "AccumulateGrad";

std::string WithoutSpace(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (!IsJsonSpace(c)) out += c;
  }
  return out;
}

bool Equal(const XXH128_hash_t& a, const XXH128_hash_t& b) {
  return a.low64 == b.low64 && a.high64 == b.high64;
}

}  // namespace

// The slot of `token`; a new one is marked as used by whoever fills it.
TokenStrings::Slot& TokenStrings::Find(std::string_view token) {
  const XXH128_hash_t hash = XXH3_128bits(token.data(), token.size());
  const size_t mask = slots_.size() - 1;
  size_t at = hash.low64 & mask;
  while (slots_[at].used && !Equal(slots_[at].hash, hash)) at = (at + 1) & mask;
  slots_[at].hash = hash;
  return slots_[at];
}

void TokenStrings::Grow() {
  if (++used_ * 2 < slots_.size()) return;
  if (slots_.size() == kMostSlots) {
    slots_.assign(kFirstSlots, {});  // forgets; the trace's own strings remember
    used_ = 0;
    return;
  }
  std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (!slot.used) continue;
    size_t at = slot.hash.low64 & mask;
    while (slots_[at].used) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

Name TokenStrings::NameOf(std::string_view token) {
  if (token.empty()) return {};
  Slot& slot = Find(token);
  if (slot.used) return slot.name;
  const std::string text = DecodeString(token);
  const bool is_engine = text.starts_with(kEngineRange);
  const Name name = {sink_.Intern(text), convert::ParseOpName(text).meaning,
                     !is_engine && (conventions::IsBackwardFunction(text) ||
                                    text.find(kAccumulate) != std::string::npos)};
  Fill(slot, name);
  return name;
}

int64_t TokenStrings::ShapesIdOf(std::string_view json) {
  Slot& slot = Find(json);
  if (slot.used) return slot.name.id;
  Name name;
  name.id = sink_.Intern(WithoutSpace(json));
  Fill(slot, name);
  return name.id;
}

void TokenStrings::Fill(Slot& slot, const Name& name) {
  slot.name = name;
  slot.used = true;
  Grow();
}

}  // namespace tutti::collector::importers::kineto
