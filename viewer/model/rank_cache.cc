#include "viewer/model/rank_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "schema/sql.h"
#include "viewer/model/byte_stream.h"
#include "viewer/model/rank_image.h"

namespace tutti::viewer {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kFormat = 1;  // changes with lane_columns.h and the catalogue
constexpr std::array<char, 8> kMagic = {'t', 'u', 't', 't', 'i', 'l', 'a', 'n'};
constexpr std::string_view kEnding = ".lanes";
constexpr std::string_view kUnfinished = ".new";
constexpr std::chrono::hours kLifetime{7 * 24};
constexpr std::chrono::hours kTimeToWrite{1};
constexpr uintmax_t kMostBytes = uintmax_t{8} << 30;

struct Header {
  std::array<char, 8> magic = kMagic;
  uint32_t format = kFormat;
  uint32_t key_bytes = 0;
  uint64_t catalogue_bytes = 0;
  uint64_t file_bytes = 0;
  uint64_t checksum = 0;  // XXH3 of all behind the header
  std::array<uint64_t, 3> unused = {};
};
static_assert(sizeof(Header) == kColumnAlignment);

size_t Aligned(size_t bytes) {
  return (bytes + kColumnAlignment - 1) / kColumnAlignment * kColumnAlignment;
}

// Identifies a state of an SQLite file, "" if there is none.
std::string StateOf(const std::string& path) {
  struct stat status {};
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> change_counter{};
  if (::stat(path.c_str(), &status) != 0 || !file.seekg(24) ||
      !file.read(change_counter.data(), change_counter.size())) {
    return "";
  }
  ByteWriter state;
  state.PutText(fs::absolute(path).string());
  state.Put(static_cast<uint64_t>(status.st_ino));
  state.Put(static_cast<int64_t>(status.st_size));
  state.Put(static_cast<int64_t>(status.st_mtim.tv_sec));
  state.Put(static_cast<int64_t>(status.st_mtim.tv_nsec));
  state.Put(change_counter);
  return state.bytes();
}

// A file that is mapped as long as anything in it is used.
class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status {};
    if (file < 0) return;
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
        static_cast<size_t>(status.st_size) >= sizeof(Header)) {
      size_ = static_cast<size_t>(status.st_size);
      void* at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
      if (at != MAP_FAILED) data_ = static_cast<const std::byte*>(at);
    }
    ::close(file);
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const { return {data_, data_ == nullptr ? 0 : size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// The parts of a file in order, whose lanes begin aligned.
std::vector<std::string_view> PartsOf(const std::string& front, const RankTrace& trace) {
  std::vector<std::string_view> parts = {front};
  for (const Track& track : trace.tracks) {
    for (const Lane& lane : track.lanes) {
      const PackedLane& packed = lane.packed();
      parts.emplace_back(reinterpret_cast<const char*>(packed.bytes.get()),
                         LaneBytes(packed.counts));
    }
  }
  return parts;
}

Status WriteFile(const std::string& path, Header header,
                 const std::vector<std::string_view>& parts) {
  XXH3_state_t* state = XXH3_createState();
  XXH3_64bits_reset(state);
  header.file_bytes = sizeof(header);
  for (const std::string_view part : parts) {
    XXH3_64bits_update(state, part.data(), part.size());
    header.file_bytes += part.size();
  }
  header.checksum = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  const std::string unfinished = path + "." + std::to_string(::getpid()) + std::string(kUnfinished);
  errno = 0;
  std::ofstream file(unfinished, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof(header));
  for (const std::string_view part : parts) {
    file.write(part.data(), static_cast<std::streamsize>(part.size()));
  }
  file.close();
  std::error_code error;
  if (file.good()) fs::rename(unfinished, path, error);
  if (file.good() && !error) return OkStatus();
  const std::string reason = error ? error.message() : std::strerror(errno);
  fs::remove(unfinished, error);
  return IoError(path + ": can't be written: " + reason);
}

// Whether the bytes are a whole entry of this key.
bool IsSound(std::span<const std::byte> bytes, const std::string& key) {
  if (bytes.size() < sizeof(Header)) return false;
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::span<const std::byte> rest = bytes.subspan(sizeof(header));
  return header.magic == kMagic && header.format == kFormat && header.file_bytes == bytes.size() &&
         header.key_bytes == key.size() && key.size() <= rest.size() &&
         header.catalogue_bytes <= rest.size() - key.size() &&
         std::memcmp(rest.data(), key.data(), key.size()) == 0 &&
         XXH3_64bits(rest.data(), rest.size()) == header.checksum;
}

}  // namespace

std::string RankCache::KeyOf(const RunSummary& summary, size_t slot) const {
  if (folder_.empty() || summary.has_two_runs()) return "";
  const std::string trace = StateOf(summary.traces[slot]);
  const std::string analysis = StateOf(summary.analysis);
  if (trace.empty() || analysis.empty()) return "";
  ByteWriter key;
  key.Put(static_cast<int64_t>(schema::kSchemaVersion));
  key.Put(summary.ranks[slot].rank);
  key.PutText(trace);
  key.PutText(analysis);
  return key.bytes();
}

std::string RankCache::PathOf(const std::string& key) const {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return folder_ + "/" + name.data() + std::string(kEnding);
}

std::optional<RankTrace> RankCache::Load(const RunSummary& summary, size_t slot,
                                         NameTable* names) const {
  const std::string key = KeyOf(summary, slot);
  if (key.empty()) return std::nullopt;
  const std::string path = PathOf(key);
  const auto mapping = std::make_shared<const Mapping>(path);
  if (!IsSound(mapping->bytes(), key)) return std::nullopt;
  Header header;
  std::memcpy(&header, mapping->bytes().data(), sizeof(header));
  const size_t catalogue = sizeof(header) + key.size();
  const size_t lanes = Aligned(catalogue + header.catalogue_bytes);
  if (lanes > mapping->bytes().size()) return std::nullopt;
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return ReadImage(mapping->bytes().subspan(catalogue, header.catalogue_bytes),
                   mapping->bytes().subspan(lanes), mapping, names);
}

Result<bool> RankCache::Store(const RunSummary& summary, size_t slot, const NameTable& names,
                              const RankTrace& trace) const {
  if (!trace.status.ok() || trace.events() < least_events_) return false;
  const std::string key = KeyOf(summary, slot);
  if (key.empty()) return false;
  RemoveOld();
  const std::string catalogue = CatalogueOf(trace, names);
  std::string front = key + catalogue;
  front.resize(Aligned(sizeof(Header) + front.size()) - sizeof(Header));
  const Header header{.key_bytes = static_cast<uint32_t>(key.size()),
                      .catalogue_bytes = catalogue.size()};
  TUTTI_RETURN_IF_ERROR(WriteFile(PathOf(key), header, PartsOf(front, trace)));
  return true;
}

void RankCache::RemoveOld() const {
  struct Entry {
    fs::file_time_type used;
    uintmax_t bytes = 0;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(folder_, error)) {
    const std::string name = file.path().filename().string();
    if (!name.ends_with(kEnding) && !name.ends_with(kUnfinished)) continue;
    entries.push_back({file.last_write_time(error), file.file_size(error), file.path()});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used > b.used; });
  const auto now = fs::file_time_type::clock::now();
  uintmax_t kept = 0;
  for (const Entry& entry : entries) {
    kept += entry.bytes;
    const bool is_dead =
        entry.path.string().ends_with(kUnfinished) && now - entry.used > kTimeToWrite;
    if (is_dead || now - entry.used > kLifetime || kept > kMostBytes) {
      fs::remove(entry.path, error);
    }
  }
}

}  // namespace tutti::viewer
