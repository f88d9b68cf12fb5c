// What a user chose for a run's rows, kept between two looks at it: a text file beside the layout
// of panels, one choice a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "viewer/scene/rows.h"

namespace tutti::viewer {

struct KeptView {
  RowChoices rows;  // opened, pinned, hidden and moved ones; no filter, no groups
  std::vector<int64_t> marks;
};

// Where the choices for a run are kept, by what the user calls it; "" nowhere.
std::string KeptViewPath(const std::string& layout_file, const std::string& run);

std::string TextOf(const KeptView& kept);
// Lines that mean nothing are passed over: the file may be of another version.
KeptView ParseKeptView(std::string_view text);

KeptView ReadKeptView(const std::string& path);  // nothing chosen, if there is no such file
Status WriteKeptView(const KeptView& kept, const std::string& path);

}  // namespace tutti::viewer
