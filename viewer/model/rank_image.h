// A rank's trace as bytes: a catalogue of its names, tracks and series, and its lanes one after the
// other as they lie in memory (lane_columns.h).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "viewer/model/rank_trace.h"

namespace tutti::viewer {

// All but the lanes' columns.
std::string CatalogueOf(const RankTrace& trace, const NameTable& names);

// The trace of a catalogue and its lanes' columns, which are used where they are: `keeper` keeps
// them, and they are aligned to kColumnAlignment. nullopt if the one does not fit the other; what
// the columns say is trusted.
std::optional<RankTrace> ReadImage(std::span<const std::byte> catalogue,
                                   std::span<const std::byte> lanes,
                                   std::shared_ptr<const void> keeper, NameTable* names);

}  // namespace tutti::viewer
