// A file that somebody wants imported: where it lies, what to call it, and how it begins.
// Value type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace tutti::collector::importers {

struct InputFile {
  std::string path = {};        // to open it with
  std::string name = {};        // as users see it: the path they gave, and what is below it
  int64_t bytes = 0;            // size on disk
  std::string head = {};        // first bytes of the file as it lies there, at most kHeadBytes
  std::string plain_head = {};  // the same of its content once decompressed; = head if it is not
  std::string damage = {};      // why the content can't be read at all, one plain line; or empty
};
inline constexpr size_t kHeadBytes = 64 * 1024;

// The last component of the path.
std::string_view FileName(const InputFile& file);

struct InputList {
  std::vector<InputFile> files = {};         // sorted by name, digits by value
  std::vector<std::string> unreadable = {};  // one plain line each
  size_t named_unreadable = 0;               // of these, of the paths themselves
};

// The regular files among `paths` and in the directories among them, 16 levels deep;
// hidden ones, and symbolic links to directories found inside directories, are left out. Not ok if
// none of the paths can be looked at: kNotFound where the first does not exist.
Result<InputList> ListInputs(const std::vector<std::string>& paths);

// A file as it is now, without looking into it.
struct FileState {
  std::string name = {};
  int64_t bytes = 0;
  int64_t mtime_ns = 0;
};
// The same files as ListInputs, in its order.
Result<std::vector<FileState>> ListStates(const std::string& path);

}  // namespace tutti::collector::importers
