// Ids of the texts that string tokens hold, found by the token's bytes: most names of a
// trace repeat, and a repeated one is neither decoded nor looked up in the trace's own
// strings again. Holds hashes only, and at most kMostSlots of them. One thread.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/convert/op_name.h"
#include "collector/importers/trace_sink.h"

namespace tutti::collector::importers::kineto {

struct Name {
  int64_t id = 0;  // of `string`
  convert::OpMeaning meaning = convert::OpMeaning::kPlain;
  bool is_backward = false;  // as autograd calls the backward of an operator
};

class TokenStrings {
 public:
  explicit TokenStrings(TraceSink& sink) : sink_(sink), slots_(kFirstSlots) {}

  // Of a name; an absent one ("") has id 0.
  Name NameOf(std::string_view token);
  int64_t IdOf(std::string_view token) { return NameOf(token).id; }

  // Of an array's text, as the recorder writes shapes: without white space.
  int64_t ShapesIdOf(std::string_view json);

 private:
  struct Slot {
    XXH128_hash_t hash = {0, 0};
    Name name;
    bool used = false;
  };
  static constexpr size_t kFirstSlots = size_t{1} << 12;
  static constexpr size_t kMostSlots = size_t{1} << 20;

  Slot& Find(std::string_view token);
  void Fill(Slot& slot, const Name& name);
  void Grow();

  TraceSink& sink_;
  std::vector<Slot> slots_;  // open addressing, a power of two
  size_t used_ = 0;
};

}  // namespace tutti::collector::importers::kineto
