#include "viewer/viewer.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace tutti::viewer {
namespace {

constexpr const char* kName = "libtutti_viewer.so";

// Beside the command, as built, and in ../lib/tutti, as installed.
Result<void*> LoadLibrary() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return IoError("/proc/self/exe can't be read");
  const std::string command(path.data(), static_cast<size_t>(length));
  const std::string folder = command.substr(0, command.rfind('/'));
  std::string reason;
  for (const std::string& place :
       {folder + "/" + kName, folder + "/../viewer/" + kName, folder + "/../lib/tutti/" + kName}) {
    if (::access(place.c_str(), R_OK) != 0) continue;
    if (void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    reason = ::dlerror();  // NOLINT(concurrency-mt-unsafe): one thread loads libraries
  }
  if (!reason.empty()) return UnavailableError("the viewer can't be loaded: " + reason);
  return UnavailableError(std::string("this build has no viewer (") + kName +
                          " is not beside the command); docs/viewer.md says how to build it");
}

}  // namespace

Status View(const ViewOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(void* library, LoadLibrary());
  const auto view = reinterpret_cast<ViewFunction>(::dlsym(library, "tutti_view"));
  if (view == nullptr) return UnavailableError(std::string(kName) + " is of another version");
  Status status;
  view(&options, &status);
  return status;
}

}  // namespace tutti::viewer
