// Why a file is none that Tutti reads, and what its owner can do: people try what their other
// tools wrote. A pure function.
#pragma once

#include <string>

#include "collector/importers/input_file.h"

namespace tutti::collector::importers {

// One plain line about a file that no importer recognizes.
std::string WhyNotRead(const InputFile& file);

}  // namespace tutti::collector::importers
