// Small operations on files, relative to directory descriptors where an attacker or
// another process could swap a path under us. Everything made here is private to the
// user: files 0600, directories 0700. Callable from any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/os/file_descriptor.h"
#include "common/status.h"

namespace tutti::collector::os {

// "WHAT: strerror(error)".
Status ErrnoStatus(std::string_view what, int error);

// The first |limit| bytes of a file. For /proc and other small files.
Result<std::string> ReadSmallFile(const std::string& path, size_t limit = 64 * 1024);
Result<std::string> ReadSmallFileAt(int directory, const std::string& name, size_t limit);

// Makes the directory and its parents. Existing ones are left as they are.
Status MakeDirectories(const std::string& path, mode_t mode = 0700);

// Opens a directory for *at() calls; its last component may not be a symbolic link.
Result<FileDescriptor> OpenDirectory(const std::string& path);
Result<FileDescriptor> OpenDirectoryAt(int directory, const std::string& name);

// A new file, 0600; kIo if the name exists in any form.
Result<FileDescriptor> CreateExclusive(int directory, const std::string& name);

// Replaces |name| as a whole: readers see the old text or the new one.
Status WriteFileAtomically(int directory, const std::string& name, std::string_view text);

// write(2) until everything is written; retries on EINTR only.
Status WriteFully(int fd, const void* data, size_t bytes);

// The same file in another directory under the same name, by a hard link; a copy where the file
// system has none, or the directories are on two. kIo if the name exists there.
Status LinkOrCopy(int from_directory, int to_directory, const std::string& name);

// Renames and fails with kIo if |to| exists (renameat2 RENAME_NOREPLACE; link and
// unlink where the file system has no such rename).
Status RenameNoReplace(int directory, const std::string& from, const std::string& to);

// Names in a directory except "." and "..", sorted. Empty if it can't be read.
std::vector<std::string> ListDirectory(const std::string& path);
std::vector<std::string> ListDirectoryAt(int directory);

// Removes a directory and what is in it without following symbolic links.
// Best effort: what can't be removed stays.
void RemoveTree(const std::string& path);

bool Exists(const std::string& path);

// Bytes that a write can still use on the file system of |fd|; INT64_MAX unknown.
int64_t FreeBytes(int fd);

// |bytes| random bytes from the kernel as lower-case hex digits.
std::string RandomHex(size_t bytes);

}  // namespace tutti::collector::os
