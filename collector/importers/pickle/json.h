// JSON as the same plain data that pickles give: dumps and timelines that come in both.
// One pass, no recursion. Callable from any thread.
#pragma once

#include <string_view>

#include "collector/importers/pickle/reader.h"
#include "common/status.h"

namespace tutti::collector::importers::pickle {

// Nesting beyond this is no data that anyone wrote on purpose.
inline constexpr size_t kMaxJsonDepth = 512;

// As Read() for pickles: a damaged document gives the part before the damage, with
// `problem` saying at which byte; fails if nothing can be read of it. Texts are copied:
// `bytes` need not outlive the document.
Result<Document> ReadJson(std::string_view bytes);

}  // namespace tutti::collector::importers::pickle
