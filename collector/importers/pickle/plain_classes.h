// Classes and functions that a pickle may name because what they make is plain data.
// Nothing is called: each is known by what it would give.
// Pure functions; callable from any thread.
#pragma once

#include <string_view>

namespace tutti::collector::importers::pickle {

enum class PlainClass {
  kUnknown,  // must not be made: the pickle is refused
  kDict,     // OrderedDict, defaultdict, Counter, dict: pairs or a dict, items follow
  kList,     // of the elements of its argument; items may follow
  kTuple,    // of the elements of its argument (torch.Size)
  kSet,      // of the elements of its argument
  kBytes,    // of text and an encoding (_codecs.encode), or of bytes
  kType,     // builtins such as int: only named (defaultdict(int)), never called
};

// `module` and `name` as the pickle writes them, Python 2 and 3.
PlainClass FindPlainClass(std::string_view module, std::string_view name);

}  // namespace tutti::collector::importers::pickle
