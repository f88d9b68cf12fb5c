// Plain data as it is written in pickle and JSON: a tree of nothing, truth values,
// numbers, texts, lists and dicts, 8 bytes a value. Parts may be shared (a pickle refers
// to the same list a million times) and may contain themselves: whoever walks a tree
// bounds depth and number of steps.
//
// A Value is a view: the Document that it came from and the bytes that this was read
// from must outlive it. Reading is thread-safe.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "collector/importers/pickle/arena.h"

namespace tutti::collector::importers::pickle {

enum class ValueKind : uint8_t {
  kNone,
  kBool,
  kInt,     // fits 64 bits with sign
  kBigInt,  // does not: kept as text, decimal up to 1024 bits, else hexadecimal ("-0x…")
  kReal,
  kText,  // UTF-8 as far as its writer kept to it
  kBytes,
  kList,
  kTuple,
  kDict,
  kSet,
  kObject,  // of a class; never made into one. Elements: class name, arguments, state, …
};

class ValueBuilder;
struct DictEntry;

class Value {
 public:
  Value() = default;  // none

  ValueKind kind() const { return static_cast<ValueKind>(bits_ >> kPayloadBits); }
  bool is_none() const { return kind() == ValueKind::kNone; }

  // The value where it is of that kind, else nothing. A truth value counts as 0 or 1.
  std::optional<int64_t> Int() const;
  std::optional<bool> Bool() const;
  // A number as a double, exact up to 2^53.
  std::optional<double> Number() const;
  // Unsigned and signed 64-bit numbers alike, as bits: addresses.
  std::optional<int64_t> Bits64() const;
  // Of text, bytes and big integers.
  std::optional<std::string_view> Text() const;

  // Elements of a list, tuple, set or object; none for anything else.
  std::span<const Value> Items() const;
  // Entries of a dict in the order in which they were written; none for anything else.
  std::span<const DictEntry> Entries() const;
  // Of a dict: what the key was last set to, else none. O(entries).
  Value Get(std::string_view key) const;
  bool Has(std::string_view key) const;

  // Equal for values that share one storage: the key of a cache of what was derived.
  uint64_t identity() const { return bits_; }

 private:
  friend class ValueBuilder;

  static constexpr int kPayloadBits = 56;
  static constexpr uint64_t kPayloadMask = (uint64_t{1} << kPayloadBits) - 1;

  template <typename T>
  const T* Pointer() const {
    return reinterpret_cast<const T*>(bits_ & kPayloadMask);  // NOLINT(performance-no-int-to-ptr)
  }

  uint64_t bits_ = 0;  // kind in the top byte, below it a small number or a pointer
};

struct DictEntry {
  Value key;
  Value value;
};

// Makes values whose storage is an arena. Lists and dicts may grow after they were put
// into others; they grow for all who share them.
class ValueBuilder {
 public:
  explicit ValueBuilder(Arena& arena) : arena_(arena) {}

  static Value Bool(bool value) { return Pack(ValueKind::kBool, value ? 1 : 0); }
  Value Int(int64_t value);
  Value Real(double value);
  // The bytes must outlive the value; Copy() them where they don't.
  Value Text(ValueKind kind, std::string_view text);
  std::string_view Copy(std::string_view text) { return arena_.Copy(text); }
  // kList, kTuple, kSet or kObject.
  Value Sequence(ValueKind kind, std::span<const Value> items);
  Value EmptyDict();

  // Requires a value of Sequence(). Amortised O(items).
  void Append(Value sequence, std::span<const Value> items);
  // Requires a dict and an even number of values: key, value, key, value, …
  void SetItems(Value dict, std::span<const Value> keys_and_values);
  // Requires an index within the sequence.
  static void SetItem(Value sequence, size_t index, Value item);

 private:
  static Value Pack(ValueKind kind, uint64_t payload) {
    Value value;
    value.bits_ = (uint64_t{static_cast<uint8_t>(kind)} << Value::kPayloadBits) |
                  (payload & Value::kPayloadMask);
    return value;
  }
  static Value PackPointer(ValueKind kind, const void* pointer);

  Arena& arena_;
};

}  // namespace tutti::collector::importers::pickle
