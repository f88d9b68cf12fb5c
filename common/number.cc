#include "common/number.h"

namespace tutti {

std::string WithCommas(int64_t number) {
  const std::string digits = std::to_string(number);
  const size_t first = number < 0 ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace tutti
