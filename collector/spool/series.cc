#include "collector/spool/series.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "collector/os/files.h"

namespace tutti::collector::spool {
namespace {

constexpr std::string_view kExtension = ".spool";
constexpr size_t kDigits = 6;

}  // namespace

std::string PieceFileName(const std::string& spool, uint64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, kDigits - std::min(digits.size(), kDigits), '0');
  return spool + "." + digits;
}

std::optional<PieceName> ParsePieceFileName(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || name.size() - dot - 1 < kDigits) return std::nullopt;
  PieceName piece{name.substr(0, dot), 0};
  if (!piece.spool.ends_with(kExtension)) return std::nullopt;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + dot + 1, end, piece.number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return piece;
}

std::vector<std::string> FilesOf(int directory, const std::string& spool) {
  const std::vector<std::string> names_there = os::ListDirectoryAt(directory);
  if (std::ranges::binary_search(names_there, spool)) return {spool};
  std::vector<std::pair<uint64_t, std::string>> pieces;
  for (const std::string& name : names_there) {
    const auto piece = ParsePieceFileName(name);
    if (piece && piece->spool == spool) pieces.emplace_back(piece->number, name);
  }
  std::ranges::sort(pieces);
  std::vector<std::string> names;
  for (auto& [number, name] : pieces) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> ListSpools(int directory) {
  std::vector<std::string> spools;
  for (const std::string& name : os::ListDirectoryAt(directory)) {
    const auto piece = ParsePieceFileName(name);
    if (piece) {
      spools.push_back(piece->spool);
    } else if (name.ends_with(kExtension)) {
      spools.push_back(name);
    }
  }
  std::ranges::sort(spools);
  spools.erase(std::unique(spools.begin(), spools.end()), spools.end());
  return spools;
}

}  // namespace tutti::collector::spool
