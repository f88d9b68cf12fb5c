// What standard output and standard error are: colour, width, and text that is safe to
// print. Data goes to stdout, everything said about it to stderr.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace tutti::cli {

enum class ColorChoice { kAuto, kAlways, kNever };

// Whether to colour what is written to `fd`: --color decides, then NO_COLOR and
// CLICOLOR_FORCE, then whether `fd` is a terminal and TERM is not "dumb".
bool UseColor(ColorChoice choice, int fd);

// Writes all of `text` to standard output. Not ok if the reader is gone or the disk full.
Status WriteOut(std::string_view text);

// One line on standard error: "tutti: <text>", as by ToPrintableText.
void Complain(std::string_view text);

// Text of several lines: what ToPrintableText replaces is replaced, but for line feeds and tabs.
std::string Printable(std::string_view text);

}  // namespace tutti::cli
