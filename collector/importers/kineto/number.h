// Numbers of a JSON text as exact integers. Times in a trace are microseconds with up to
// nine decimals; a double would lose the nanoseconds of any time since 1970, so tokens are
// read digit by digit. All forms that writers are known to use are taken: integers,
// decimals, exponents, and each of them inside quotes.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::collector::importers::kineto {

// Microseconds as nanoseconds; below a nanosecond it rounds half to even. Absent: no number
// (also null, NaN, Infinity) or outside of int64.
std::optional<int64_t> ParseMicroseconds(std::string_view token);

// An exact integer ("12", "12.0" and "1.2e1" alike). Absent: none, or outside of int64.
std::optional<int64_t> ParseInteger(std::string_view token);

// 64 bits: also unsigned ones above int64, which come out negative, and "0x…".
std::optional<int64_t> ParseBits(std::string_view token);

// A number for a counter: an integer if it is one, else the nearest double. Absent: no
// finite number.
struct Number {
  bool is_integer = true;
  int64_t integer = 0;
  double real = 0;
};
std::optional<Number> ParseNumber(std::string_view token);

// True for the tokens that writers put where a number is not finite: NaN, inf, -Infinity, …
bool IsNonFinite(std::string_view token);

}  // namespace tutti::collector::importers::kineto
