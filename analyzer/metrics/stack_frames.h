// Stacks as text: innermost frame first, "function (file:line)", one a line.
// Pure functions; callable from any thread.
#pragma once

#include <string>
#include <string_view>

namespace tutti::analyzer {

// The line at which somebody who debugs a program would look: the first that is not inside
// torch, else the first. "" for an empty stack.
std::string_view FrameToShow(std::string_view stack);

// The same frame with at most the last two components of its path:
// "forward (cs336_basics/model.py:54)".
std::string ShortFrame(std::string_view frame);

}  // namespace tutti::analyzer
