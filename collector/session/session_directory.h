// The private directory that holds a recording's socket, and the token that a process
// must know to be let in. Under $XDG_RUNTIME_DIR/tutti, else under /tmp; 0700, ours,
// with a name that nobody can guess. One thread.
#pragma once

#include <string>

#include "collector/os/file_descriptor.h"
#include "common/status.h"

namespace tutti::collector::session {

class SessionDirectory {
 public:
  static Result<SessionDirectory> Make();

  SessionDirectory(SessionDirectory&&) = default;
  SessionDirectory& operator=(SessionDirectory&&) = default;

  // A listening SOCK_SEQPACKET socket in the directory; non-blocking, close-on-exec.
  Result<os::FileDescriptor> Listen() const;

  const std::string& path() const { return path_; }
  std::string socket_path() const { return path_ + "/socket"; }
  const std::string& token() const { return token_; }  // 32 hex digits
  // Value of TUTTI_SESSION.
  std::string address() const { return socket_path() + ":" + token_; }

 private:
  SessionDirectory(std::string path, std::string token)
      : path_(std::move(path)), token_(std::move(token)) {}

  std::string path_;
  std::string token_;
};

// Removes the socket and the directory. Not the destructor's work: of supervisor and
// drainer the one that ends last does it.
void RemoveSessionDirectory(const std::string& path);

}  // namespace tutti::collector::session
