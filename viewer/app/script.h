// What `tutti view --script` reads: one action a line, so that the viewer can be driven without
// anybody at it. '#' starts a comment.
//
//   goto RANK:STEP[:ROW]     zoom FROM_MS TO_MS (since the begin)     search TEXT
//   select TEXT              the first event of a name that contains TEXT
//   command NAME             as the palette has it: fit, undo-view, …
//   theme dark|light         size WIDTHxHEIGHT                        filter TEXT
//   move X Y                 click X Y       drag X Y X2 Y2           wheel X Y AMOUNT [Ctrl]
//   key CHORD                type TEXT       frames N
//   png FILE                 dump FILE       ('-': standard output)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace tutti::viewer {

struct ScriptLine {
  int number = 0;  // in the script, from 1
  std::string verb;
  std::vector<std::string> words;  // behind the verb
  std::string rest;                // the same as one text
};

// kUsage names the first line that is no action.
Result<std::vector<ScriptLine>> ParseScript(std::string_view text);

}  // namespace tutti::viewer
