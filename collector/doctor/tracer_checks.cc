// Whether a tracer can record here at all.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/doctor/checks.h"
#include "collector/os/file_descriptor.h"
#include "collector/supervise/tracer_library.h"

namespace tutti::collector::doctor {
namespace {

Checkup CheckLibrary() {
  Checkup checkup{"tracer_library", Health::kGood, "", ""};
  const Result<std::string> library = supervise::FindTracerLibrary();
  if (library.ok()) {
    checkup.found = *library;
    return checkup;
  }
  checkup.health = Health::kProblem;
  checkup.found = library.status().message();
  checkup.advice = "install Tutti again, or name the library in TUTTI_TRACER";
  return checkup;
}

// Each process writes its events into a sealed memfd that the collector maps too.
Checkup CheckSealedMemory() {
  Checkup checkup{"sealed_memory", Health::kGood, "memfd_create with seals works", ""};
  const os::FileDescriptor memory(::memfd_create("tutti-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const bool works = memory.get() >= 0 && ::ftruncate(memory.get(), 4096) == 0 &&
                     ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0;
  if (works) return checkup;
  checkup.health = Health::kProblem;
  checkup.found = "memfd_create with seals is refused";
  checkup.advice = "allow memfd_create in the container's seccomp profile; Linux 4.14 or newer";
  return checkup;
}

// A forked child must not write into its parent's buffers.
Checkup CheckWipeOnFork() {
  Checkup checkup{"wipe_on_fork", Health::kGood, "MADV_WIPEONFORK works", ""};
  const auto page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* const page =
      ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool works = page != MAP_FAILED && ::madvise(page, page_bytes, MADV_WIPEONFORK) == 0;
  if (page != MAP_FAILED) ::munmap(page, page_bytes);
  if (works) return checkup;
  checkup.health = Health::kProblem;
  checkup.found = "MADV_WIPEONFORK is refused";
  checkup.advice = "run on Linux 4.14 or newer";
  return checkup;
}

}  // namespace

std::vector<Checkup> CheckTracer() {
  return {CheckLibrary(), CheckSealedMemory(), CheckWipeOnFork()};
}

}  // namespace tutti::collector::doctor
