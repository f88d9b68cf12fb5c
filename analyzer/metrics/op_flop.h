// Floating-point operations of an operator, by its name and the shapes of its inputs.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::analyzer {

// Whether an operator of this name is one of those that FlopOf counts.
bool HasFlop(std::string_view name);
// Whether it computes a convolution, of which the shapes of the inputs don't tell the output.
bool IsConvolution(std::string_view name);

// Additions and multiplications of a matrix product (2 m n k) or of attention (4 b h s t d, two
// and a half times that backward; what a mask leaves out counts). `shapes` as in the trace:
// "[[8,16],[16,32]]". Nothing where the shapes are not those of such an operator.
std::optional<int64_t> FlopOf(std::string_view name, std::string_view shapes);

}  // namespace tutti::analyzer
