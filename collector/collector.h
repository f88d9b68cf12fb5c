// What the command line uses of the collector stage: recording, telling a recording what to do,
// finishing what killed recordings left, importing files of other tools, examining the machine.
#pragma once

#include "collector/control.h"    // IWYU pragma: export
#include "collector/doctor.h"     // IWYU pragma: export
#include "collector/import.h"     // IWYU pragma: export
#include "collector/injection.h"  // IWYU pragma: export
#include "collector/record.h"     // IWYU pragma: export
#include "collector/salvage.h"    // IWYU pragma: export
