// A spool may be a series of files instead of one: "p0003.spool.000000", "….000001", …, so that
// the oldest can be dropped while the newest is written (`tutti record --live`). Each but the
// first begins with a head of its own, which ends with a kWindow chunk: what is needed from the
// files before it (format.h). Whoever reads a series (reader.h) sees one spool: the head of the
// oldest file that is left, then the bodies of all.
// A file has its name only once its head is complete. Callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::collector::spool {

struct PieceName {
  std::string spool;  // "p0003.spool"
  uint64_t number;
};

std::string PieceFileName(const std::string& spool, uint64_t number);
// Takes such a name apart; absent if it is none.
std::optional<PieceName> ParsePieceFileName(const std::string& name);

// The files of a spool in `directory`, oldest first: one, a series, or none.
std::vector<std::string> FilesOf(int directory, const std::string& spool);

// The spools in `directory`, whether they are files or series; in order of their names.
std::vector<std::string> ListSpools(int directory);

}  // namespace tutti::collector::spool
