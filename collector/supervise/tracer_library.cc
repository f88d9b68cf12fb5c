#include "collector/supervise/tracer_library.h"

#include <stdlib.h>
#include <unistd.h>

#include <climits>
#include <memory>

namespace tutti::collector::supervise {
namespace {

constexpr char kName[] = "libtutti_tracer.so";

std::string ProgramDirectory() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) return ".";
  const std::string program(path, static_cast<size_t>(length));
  return program.substr(0, program.rfind('/'));
}

// "" if there is no such file.
std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), ::free);
  return real ? std::string(real.get()) : std::string();
}

Result<std::string> Preloadable(std::string path) {
  if (path.find_first_of(": \t\n") == std::string::npos) return path;
  return UnavailableError(path +
                          ": LD_PRELOAD can't name a path with blanks or colons; "
                          "copy the library elsewhere and name it in TUTTI_TRACER");
}

}  // namespace

Result<std::string> FindTracerLibrary() {
  if (const char* named = ::getenv("TUTTI_TRACER")) {  // NOLINT(concurrency-mt-unsafe)
    std::string path = RealPath(named);
    if (path.empty()) return UnavailableError(std::string(named) + " (TUTTI_TRACER): not found");
    return Preloadable(std::move(path));
  }
  const std::string directory = ProgramDirectory();
  for (const char* place : {"/../lib/tutti/", "/../lib/", "/../tracer/", "/"}) {
    std::string path = RealPath(directory + place + kName);
    if (!path.empty()) return Preloadable(std::move(path));
  }
  return UnavailableError(std::string(kName) + " is not beside " + directory +
                          "; name it in TUTTI_TRACER");
}

}  // namespace tutti::collector::supervise
