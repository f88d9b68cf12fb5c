// Which job this recorder belongs to, as its launcher's variables tell: recorders of one
// job (one per node, or one per rank under srun) write into one run directory.
#pragma once

#include <string>

namespace tutti::collector::run {

struct JobIdentity {
  std::string id = {};  // "" nothing is known
  // Whether no other job ever has this id. MASTER_ADDR:MASTER_PORT is used again.
  bool is_unique = false;
};

// Value of a variable, nullptr if unset. A parameter so that tests need no environment.
using GetVariable = const char* (*)(const char* name);

JobIdentity ReadJobIdentity(GetVariable get);

}  // namespace tutti::collector::run
