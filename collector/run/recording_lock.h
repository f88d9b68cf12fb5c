// Tells a running recording from one whose processes were killed: they hold a lock
// (flock) on a file beside their spools, which the kernel takes away when the last of
// them is gone. Callable from any thread.
#pragma once

#include <string>

#include "collector/os/file_descriptor.h"
#include "common/status.h"

namespace tutti::collector::run {

// Takes the lock of a recording; it is kept as long as any process has the descriptor.
// kIo: somebody else has it.
Result<os::FileDescriptor> LockRecording(const std::string& spool_path);

// Whether somebody holds the lock.
bool IsRecording(const std::string& spool_path);

}  // namespace tutti::collector::run
