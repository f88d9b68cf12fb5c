#include "collector/importers/kineto/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace tutti::collector::importers::kineto {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view Unquoted(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    token = token.substr(1, token.size() - 2);
  }
  return token;
}

// +-digits * 10^exponent, plus less than one unit of the last digit if `has_rest`.
struct Decimal {
  bool negative = false;
  unsigned __int128 digits = 0;
  int exponent = 0;
  bool has_rest = false;
};

constexpr int kMaxDigits = 37;  // what 128 bits hold for certain
constexpr int kMaxExponent = 100'000;

// Takes digits from the front of `text`; those after kMaxDigits only move the exponent.
void TakeDigits(std::string_view& text, bool fraction, int& kept, Decimal& decimal) {
  while (!text.empty() && IsDigit(text.front())) {
    const int digit = text.front() - '0';
    text.remove_prefix(1);
    if (kept < kMaxDigits) {
      decimal.digits = decimal.digits * 10 + static_cast<unsigned>(digit);
      if (decimal.digits != 0) ++kept;
      if (fraction) --decimal.exponent;
    } else {
      decimal.has_rest = decimal.has_rest || digit != 0;
      if (!fraction) ++decimal.exponent;
    }
  }
}

bool TakeExponent(std::string_view& text, Decimal& decimal) {
  text.remove_prefix(1);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (end == text.data()) return false;
  const bool is_negative = text.front() == '-';
  if (error == std::errc::result_out_of_range)
    exponent = is_negative ? -kMaxExponent : kMaxExponent;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  decimal.exponent += std::clamp(exponent, -kMaxExponent, kMaxExponent);
  return true;
}

std::optional<Decimal> ParseDecimal(std::string_view text) {
  Decimal decimal;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    decimal.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const size_t before = text.size();
  int kept = 0;
  TakeDigits(text, false, kept, decimal);
  size_t digits = before - text.size();
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const size_t at_fraction = text.size();
    TakeDigits(text, true, kept, decimal);
    digits += at_fraction - text.size();
  }
  if (digits == 0) return std::nullopt;
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    if (!TakeExponent(text, decimal)) return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return decimal;
}

std::optional<int64_t> Signed(unsigned __int128 magnitude, bool negative) {
  constexpr auto kMax = static_cast<unsigned __int128>(std::numeric_limits<int64_t>::max());
  if (magnitude > kMax + (negative ? 1 : 0)) return std::nullopt;
  const auto value = static_cast<uint64_t>(magnitude);
  return static_cast<int64_t>(negative ? 0 - value : value);
}

// decimal * 10^scale as an integer, half to even. With `exact`, only if it is one.
std::optional<unsigned __int128> Scaled(const Decimal& decimal, int scale, bool exact) {
  constexpr unsigned __int128 kLimit = std::numeric_limits<uint64_t>::max();
  unsigned __int128 value = decimal.digits;
  int exponent = decimal.exponent + scale;
  for (; exponent > 0 && value != 0; --exponent) {
    value *= 10;
    if (value > kLimit) return std::nullopt;
  }
  bool above = decimal.has_rest;  // what was cut off the last digit is more than nothing
  unsigned last = 0;              // last digit cut off
  for (; exponent < 0; ++exponent) {
    above = above || last != 0;
    last = static_cast<unsigned>(value % 10);
    value /= 10;
    if (value == 0 && last == 0) break;  // only zeros above: all of it is below a half
  }
  if (exponent < 0) {
    above = above || last != 0;
    last = 0;
  }
  if (exact && (last != 0 || above)) return std::nullopt;
  const bool odd = (value & 1) != 0;
  if (last > 5 || (last == 5 && (above || odd))) ++value;
  return value <= kLimit ? std::optional(value) : std::nullopt;
}

// The forms that nearly all tokens have: up to 15 digits, then up to three decimals.
bool ParsePlainMicroseconds(std::string_view token, int64_t& nanoseconds) {
  const char* at = token.data();
  const char* const end = at + token.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  const char* const digits = at;
  uint64_t value = 0;
  while (at != end && IsDigit(*at)) value = value * 10 + static_cast<unsigned>(*at++ - '0');
  if (at == digits || at - digits > 15) return false;
  int decimals = 0;
  if (at != end && *at == '.') {
    ++at;
    for (; at != end && IsDigit(*at) && decimals < 3; ++decimals) {
      value = value * 10 + static_cast<unsigned>(*at++ - '0');
    }
    if (decimals == 0) return false;
  }
  if (at != end) return false;
  for (; decimals < 3; ++decimals) value *= 10;
  nanoseconds = negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
  return true;
}

// Nearly all integers are a few digits and nothing else.
bool ParseDigits(std::string_view token, int64_t& value) {
  constexpr size_t kMost = 18;  // what 64 bits hold for certain
  if (token.empty() || token.size() > kMost) return false;
  value = 0;
  for (const char c : token) {
    if (!IsDigit(c)) return false;
    value = value * 10 + (c - '0');
  }
  return true;
}

}  // namespace

std::optional<int64_t> ParseMicroseconds(std::string_view token) {
  int64_t nanoseconds = 0;
  token = Unquoted(token);
  if (ParsePlainMicroseconds(token, nanoseconds)) return nanoseconds;
  const std::optional<Decimal> decimal = ParseDecimal(token);
  if (!decimal) return std::nullopt;
  const auto magnitude = Scaled(*decimal, 3, false);
  return magnitude ? Signed(*magnitude, decimal->negative) : std::nullopt;
}

std::optional<int64_t> ParseInteger(std::string_view token) {
  int64_t value = 0;
  if (ParseDigits(token, value)) return value;
  token = Unquoted(token);
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error == std::errc() && end == token.data() + token.size()) return value;
  const std::optional<Decimal> decimal = ParseDecimal(token);
  if (!decimal) return std::nullopt;
  const auto magnitude = Scaled(*decimal, 0, true);
  return magnitude ? Signed(*magnitude, decimal->negative) : std::nullopt;
}

std::optional<int64_t> ParseBits(std::string_view token) {
  token = Unquoted(token);
  const bool is_hex = token.starts_with("0x") || token.starts_with("0X");
  const std::string_view digits = is_hex ? token.substr(2) : token;
  uint64_t bits = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bits, is_hex ? 16 : 10);
  if (error == std::errc() && end == digits.data() + digits.size())
    return static_cast<int64_t>(bits);
  return ParseInteger(token);
}

std::optional<Number> ParseNumber(std::string_view token) {
  if (const std::optional<int64_t> integer = ParseInteger(token)) return Number{true, *integer, 0};
  token = Unquoted(token);
  if (!token.empty() && token.front() == '+') token.remove_prefix(1);
  double real = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), real);
  if (error != std::errc() || end != token.data() + token.size() || !std::isfinite(real)) {
    return std::nullopt;
  }
  return Number{false, 0, real};
}

bool IsNonFinite(std::string_view token) {
  token = Unquoted(token);
  if (!token.empty() && (token.front() == '-' || token.front() == '+')) token.remove_prefix(1);
  for (const std::string_view spelling :
       {"nan", "NaN", "NAN", "inf", "Inf", "INF", "infinity", "Infinity", "INFINITY"}) {
    if (token == spelling) return true;
  }
  return false;
}

}  // namespace tutti::collector::importers::kineto
