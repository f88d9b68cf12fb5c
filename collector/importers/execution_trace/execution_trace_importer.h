// Execution traces (Chakra's protobuf .et files, PyTorch's ExecutionTraceObserver JSON):
// recognized so that a plain line says that they are not read.
#pragma once

#include <string_view>

#include "collector/importers/importer.h"

namespace tutti::collector::importers {

// `head`: the first bytes of the file. A length, then the graph's metadata: field 1 is a
// version "0.0.4", field 2 an attribute with a name (Chakra's schema/protobuf/et_def.proto).
bool IsChakraProtobuf(std::string_view head);
bool IsExecutionTraceJson(std::string_view head);

const Importer& ExecutionTraceImporter();

}  // namespace tutti::collector::importers
