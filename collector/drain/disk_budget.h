// How much the spools of one recording may take. Three limits:
//   - the user's (`--max-size`): rank files need room too, so the spool gets a share;
//   - the file system's: enough is left free for the rank files that will be made of
//     what is spooled, so that a recording that fills the disk still ends with files
//     that open;
//   - RLIMIT_FSIZE, for each file, less what a spool's last chunks need.
// One thread.
#pragma once

#include <cstdint>

namespace tutti::collector::drain {

enum class BudgetState : uint8_t {
  kPlenty,
  kStop,  // the user's limit is near: capture should stop, what is buffered still fits
  kFull,  // nothing may be written now; that may change where others free space
};

class DiskBudget {
 public:
  // |max_bytes|: the user's limit for all files of the recording, 0 none. |directory|: a
  // descriptor on the file system of the run, not owned.
  DiskBudget(uint64_t max_bytes, int directory);

  // May |bytes| more be spooled, into a file that has |file_bytes|?
  BudgetState StateFor(uint64_t bytes, uint64_t file_bytes);
  void Spent(uint64_t bytes) { spooled_bytes_ += bytes; }
  // Files of so many bytes were removed again.
  void Freed(uint64_t bytes) {
    spooled_bytes_ -= bytes < spooled_bytes_ ? bytes : spooled_bytes_;
    known_free_bytes_ = 0;  // ask again
  }
  // Of what was spooled, this much has its rows on the disk already and needs no room kept free.
  void SetConverted(uint64_t bytes) { converted_bytes_ = bytes; }

  // The largest that a file may be.
  uint64_t max_file_bytes() const { return max_file_bytes_; }
  uint64_t spooled_bytes() const { return spooled_bytes_; }

 private:
  bool DiskHasRoom(uint64_t bytes);

  uint64_t max_bytes_;
  uint64_t max_file_bytes_;
  int directory_;
  uint64_t spooled_bytes_ = 0;
  uint64_t converted_bytes_ = 0;
  // The file system is asked again only after this much was written.
  int64_t known_free_bytes_ = 0;
};

}  // namespace tutti::collector::drain
