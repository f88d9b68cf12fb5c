// One side of a campaign: what is run, and where.
//
//   build/train          a program: COMMAND's words are its arguments
//   ../other-checkout    a folder: COMMAND is run there
//   main, git:main       a revision of the repository around the current directory: COMMAND is run
//                        in a checkout of it (the repository itself is left as it is)
//   sh:train --lr 0.1    a shell command: COMMAND's words come after it
//
// "{}" in a word of COMMAND stands for the side's program or folder. Words without a prefix are
// files if there is one of that name, else revisions. One thread; forks.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::collector::campaign {

enum class SideKind { kProgram, kFolder, kRevision, kShell };

struct Side {
  SideKind kind = SideKind::kProgram;
  std::string text;        // as typed, without its prefix
  std::string path;        // of kProgram and kFolder, absolute; of kRevision once it is checked out
  std::string repository;  // of kRevision: its top folder
  std::string commit;      // of kRevision; of kFolder if git knows it
  // What must not change between launches: a program's hash, a commit and what differs from it.
  std::string identity;
};

// kUsage: there is neither a file nor a revision of that name.
Result<Side> ResolveSide(const std::string& text);

// Checks a revision out into `folder` (unless that commit is there) and sets the side's path.
Status CheckOut(Side& side, const std::string& folder, const std::string& log);

struct Invocation {
  std::vector<std::string> argv;
  std::string directory;  // "": the current one
};
// kUsage: nothing to run.
Result<Invocation> CommandOf(const Side& side, const std::vector<std::string>& command);

}  // namespace tutti::collector::campaign
