// How figures and tables look in reports for people.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/number.h"

namespace tutti::analyzer {

// "4.210": milliseconds with three decimals, "-" for nothing.
std::string Milliseconds(double ns);
std::string MsOrDash(const std::optional<int64_t>& ns);
// "1 rank", "2,048 ranks"
std::string Counted(int64_t number, const char* one, const char* many);
// "1.6 MiB", "512 B"
std::string Bytes(int64_t bytes);
// "19,968" or "3.41": a rate with three significant digits
std::string Rate(double per_second);
// "65.6 %"
std::string PercentOf(double part, double whole);

// What a finding's cure saves per step: "saves 10.604 ms per step (53.5 %), at most 13.850 ms"
// where a replay tells, else "up to 13.850 ms per step (69.9 %)". `share` is of the bound.
std::string SavingOf(int64_t bound_ns, double share, std::optional<int64_t> replayed_ns);

// Columns on a terminal: UTF-8 characters, control characters not counted.
size_t DisplayWidth(std::string_view text);
// Cuts to `columns`, the last one an ellipsis.
std::string Cut(std::string_view text, size_t columns);
// Breaks at spaces into lines of at most `columns`, of which the first begins with
// `first_indent` spaces and others with `indent`. A longer word is cut.
std::string Wrap(std::string_view text, size_t columns, size_t first_indent, size_t indent);

// Rows of cells in aligned columns: the first `left` columns to the left, others to the
// right; two spaces apart; each line begins with two spaces and has no space at its end.
std::string Table(const std::vector<std::vector<std::string>>& rows, size_t left);

}  // namespace tutti::analyzer
