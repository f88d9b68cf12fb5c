#include "collector/importers/flight_recorder/names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "collector/importers/rank_assignment.h"

namespace tutti::collector::importers::flight_recorder {
namespace {

struct KnownOp {
  std::string_view key;  // lower case without '_'
  std::string_view op;
};

// Longer keys before those that they start with.
constexpr std::array kOps = {
    KnownOp{"allreducebarrier", "barrier"},
    KnownOp{"allreduce", "all_reduce"},
    KnownOp{"allgather", "all_gather"},
    KnownOp{"reducescatter", "reduce_scatter"},
    KnownOp{"alltoall", "all_to_all"},
    KnownOp{"barrier", "barrier"},
    KnownOp{"monitoredbarrier", "barrier"},
    KnownOp{"broadcast", "broadcast"},
    KnownOp{"scatter", "scatter"},
    KnownOp{"gather", "gather"},
    KnownOp{"reduce", "reduce"},
    KnownOp{"send", "send"},
    KnownOp{"recv", "recv"},
};

struct KnownDtype {
  std::string_view torch;
  std::string_view name;
  int64_t bytes;
};

constexpr std::array kDtypes = {
    KnownDtype{"Byte", "uint8", 1},
    KnownDtype{"Char", "int8", 1},
    KnownDtype{"Short", "int16", 2},
    KnownDtype{"Int", "int32", 4},
    KnownDtype{"Long", "int64", 8},
    KnownDtype{"Half", "float16", 2},
    KnownDtype{"Float", "float32", 4},
    KnownDtype{"Double", "float64", 8},
    KnownDtype{"ComplexHalf", "complex32", 4},
    KnownDtype{"ComplexFloat", "complex64", 8},
    KnownDtype{"ComplexDouble", "complex128", 16},
    KnownDtype{"Bool", "bool", 1},
    KnownDtype{"BFloat16", "bfloat16", 2},
    KnownDtype{"UInt16", "uint16", 2},
    KnownDtype{"UInt32", "uint32", 4},
    KnownDtype{"UInt64", "uint64", 8},
    KnownDtype{"Float8_e5m2", "float8_e5m2", 1},
    KnownDtype{"Float8_e4m3fn", "float8_e4m3fn", 1},
    KnownDtype{"Float8_e5m2fnuz", "float8_e5m2fnuz", 1},
    KnownDtype{"Float8_e4m3fnuz", "float8_e4m3fnuz", 1},
    KnownDtype{"Float8_e8m0fnu", "float8_e8m0fnu", 1},
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string KeyOf(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (c == '_') continue;
    key.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return key;
}

std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// "0->3" of a send, "0<-3" of a receive: the own rank first in both.
void SetPeers(std::string_view arrow, OpName& name) {
  const std::optional<int64_t> self = TakeNumber(arrow);
  if (!self || !(arrow.starts_with("->") || arrow.starts_with("<-"))) return;
  arrow.remove_prefix(2);
  const std::optional<int64_t> peer = TakeNumber(arrow);
  if (!peer) return;
  name.self = self;
  name.peer = peer;
}

}  // namespace

OpName ParseOpName(std::string_view profiling_name) {
  OpName name;
  const size_t colon = profiling_name.find(':');
  if (colon != std::string_view::npos) {
    name.backend = profiling_name.substr(0, colon);
    profiling_name.remove_prefix(colon + 1);
  }
  const size_t blank = profiling_name.find(' ');
  const std::string_view op = profiling_name.substr(0, blank);
  const std::string key = KeyOf(op);
  name.is_batch = key == "coalesced";
  const auto* known = std::find_if(kOps.begin(), kOps.end(),
                                   [&](const KnownOp& k) { return key.starts_with(k.key); });
  name.op = known == kOps.end() ? op : known->op;
  if (blank != std::string_view::npos) SetPeers(profiling_name.substr(blank + 1), name);
  return name;
}

Dtype ParseDtype(std::string_view scalar_type) {
  for (const KnownDtype& known : kDtypes) {
    if (known.torch == scalar_type) return {std::string(known.name), known.bytes};
  }
  return {std::string(scalar_type), 0};
}

std::optional<int64_t> RankInFileName(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (const std::optional<int64_t> rank = RankFromFileName(name)) return rank;
  // An extension begins with a letter: ".json", not the ".3" of "dump.3".
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos && dot + 1 < name.size() && !IsDigit(name[dot + 1])) {
    name = name.substr(0, dot);
  }
  size_t end = name.size();
  while (end > 0 && !IsDigit(name[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  std::string_view digits = name.substr(begin, end - begin);
  return TakeNumber(digits);
}

}  // namespace tutti::collector::importers::flight_recorder
