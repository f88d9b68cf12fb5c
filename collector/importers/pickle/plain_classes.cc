#include "collector/importers/pickle/plain_classes.h"

namespace tutti::collector::importers::pickle {
namespace {

struct Entry {
  std::string_view module;
  std::string_view name;
  PlainClass meaning;
};

constexpr Entry kEntries[] = {
    {"collections", "OrderedDict", PlainClass::kDict},
    {"collections", "defaultdict", PlainClass::kDict},
    {"collections", "Counter", PlainClass::kDict},
    {"collections", "deque", PlainClass::kList},
    {"builtins", "dict", PlainClass::kDict},
    {"builtins", "list", PlainClass::kList},
    {"builtins", "tuple", PlainClass::kTuple},
    {"builtins", "set", PlainClass::kSet},
    {"builtins", "frozenset", PlainClass::kSet},
    {"builtins", "bytes", PlainClass::kBytes},
    {"builtins", "bytearray", PlainClass::kBytes},
    {"builtins", "int", PlainClass::kType},
    {"builtins", "float", PlainClass::kType},
    {"builtins", "str", PlainClass::kType},
    {"builtins", "bool", PlainClass::kType},
    {"builtins", "object", PlainClass::kType},
    {"torch", "Size", PlainClass::kTuple},
    {"_codecs", "encode", PlainClass::kBytes},
};

}  // namespace

PlainClass FindPlainClass(std::string_view module, std::string_view name) {
  if (module == "__builtin__") module = "builtins";  // Python 2's name
  for (const Entry& entry : kEntries) {
    if (entry.module == module && entry.name == name) return entry.meaning;
  }
  return PlainClass::kUnknown;
}

}  // namespace tutti::collector::importers::pickle
