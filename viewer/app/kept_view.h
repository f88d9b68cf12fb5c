// What a user chose for a run's rows, and what they noted on it, kept between two looks at it: text
// files, one choice a line. Rows are the user's own and lie beside the layout of panels; notes
// (marks and named views) lie in the run's folder, where others find them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "viewer/scene/rows.h"

namespace tutti::viewer {

// A moment that the user marked, and what they wrote about it.
struct Mark {
  int64_t time_ns = 0;
  std::string text;
  friend bool operator==(const Mark&, const Mark&) = default;
};

// A place with a name, and the rows as they were.
struct NamedView {
  std::string name;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  float scroll_y = 0;
  RowChoices rows;
};

struct KeptView {
  RowChoices rows;  // opened, pinned, hidden and moved ones; no filter, no groups
  std::vector<Mark> marks;
  std::vector<NamedView> views;
};

// Where the choices for a run are kept, by what the user calls it; "" nowhere.
std::string KeptViewPath(const std::string& layout_file, const std::string& run);

// Where the notes on a run are kept: in its folder, if `run` is one that the user opened as such
// and may write to; else as KeptViewPath.
std::string NotesPath(const std::string& layout_file, const std::string& title,
                      const std::string& run);

std::string TextOf(const KeptView& kept);
// Lines that mean nothing are passed over: the file may be of another version.
KeptView ParseKeptView(std::string_view text);

KeptView ReadKeptView(const std::string& path);  // nothing chosen, if there is no such file
Status WriteKeptView(const KeptView& kept, const std::string& path);

// Both files of a run.
KeptView ReadKept(const std::string& rows_path, const std::string& notes_path);
Status WriteKept(const KeptView& kept, const std::string& rows_path, const std::string& notes_path);

}  // namespace tutti::viewer
