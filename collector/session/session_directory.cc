#include "collector/session/session_directory.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "collector/os/files.h"

namespace tutti::collector::session {
namespace {

constexpr size_t kTokenBytes = 16;
constexpr int kBacklog = 128;  // all ranks of a node may come at once

// Whether |path| is a directory of ours that nobody else can enter.
bool IsPrivate(const std::string& path) {
  const auto directory = os::OpenDirectory(path);
  struct stat info;
  return directory.ok() && ::fstat(directory->get(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == ::geteuid() && (info.st_mode & 077) == 0;
}

Result<std::string> MakeIn(const std::string& parent) {
  std::string path = parent + "/tutti-XXXXXX";
  if (path.size() + sizeof("/socket") > sizeof(sockaddr_un::sun_path)) {
    return IoError(parent + ": too long a path for a socket");
  }
  if (::mkdtemp(path.data()) == nullptr) return os::ErrnoStatus(parent, errno);
  if (!IsPrivate(path)) return IoError(path + ": others can enter it");
  return path;
}

// The runtime directory is private by definition; check it all the same.
Result<std::string> MakeInRuntimeDirectory() {
  const char* runtime = ::getenv("XDG_RUNTIME_DIR");  // NOLINT(concurrency-mt-unsafe)
  if (runtime == nullptr || *runtime != '/') return NotFoundError("no XDG_RUNTIME_DIR");
  const std::string parent = std::string(runtime) + "/tutti";
  if (::mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST) {
    return os::ErrnoStatus(parent, errno);
  }
  if (!IsPrivate(parent)) return IoError(parent + ": others can enter it");
  return MakeIn(parent);
}

}  // namespace

Result<SessionDirectory> SessionDirectory::Make() {
  Result<std::string> path = MakeInRuntimeDirectory();
  if (!path.ok()) path = MakeIn("/tmp");
  if (!path.ok()) return path.status();
  return SessionDirectory(std::move(*path), os::RandomHex(kTokenBytes));
}

Result<os::FileDescriptor> SessionDirectory::Listen() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket_path();
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  os::FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid() ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return os::ErrnoStatus(path, errno);
  }
  return socket;
}

void RemoveSessionDirectory(const std::string& path) {
  ::unlink((path + "/socket").c_str());
  ::rmdir(path.c_str());
}

}  // namespace tutti::collector::session
