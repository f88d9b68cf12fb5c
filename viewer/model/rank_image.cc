#include "viewer/model/rank_image.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "viewer/model/byte_stream.h"

namespace tutti::viewer {
namespace {

class CatalogueWriter {
 public:
  explicit CatalogueWriter(const NameTable& names) : names_(names) {}

  // The names come first in the file, and are known last.
  std::string Write(const RankTrace& trace) {
    tracks_.Put(static_cast<uint32_t>(trace.tracks.size()));
    for (const Track& track : trace.tracks) PutTrack(track);
    ByteWriter whole;
    whole.Put(static_cast<uint32_t>(texts_.size()));
    for (const std::string_view text : texts_) whole.PutText(text);
    return whole.bytes() + tracks_.bytes();
  }

 private:
  void PutTrack(const Track& track) {
    tracks_.Put(track.kind);
    tracks_.Put(track.device);
    tracks_.Put(track.id);
    tracks_.PutText(track.label);
    tracks_.PutText(track.role);
    tracks_.PutText(track.unit);
    tracks_.Put(static_cast<uint32_t>(track.series.size()));
    for (size_t i = 0; i < track.series.size(); ++i) tracks_.Put(track.series.sample(i));
    tracks_.Put(static_cast<uint32_t>(track.lanes.size()));
    for (const Lane& lane : track.lanes) PutLane(lane);
  }

  void PutLane(const Lane& lane) {
    tracks_.Put(lane.packed().counts);
    tracks_.Put(static_cast<uint32_t>(lane.names().size()));
    for (const LaneName& entry : lane.names()) {
      tracks_.Put(NumberOf(entry.name));
      tracks_.Put(entry.category);
      tracks_.Put(entry.source);
      tracks_.Put(static_cast<uint8_t>(entry.is_open ? 1 : 0));
    }
  }

  uint32_t NumberOf(NameId name) {
    const auto [found, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(names_.Text(name));
    return found->second;
  }

  const NameTable& names_;
  ByteWriter tracks_;
  std::vector<std::string_view> texts_;
  std::unordered_map<NameId, uint32_t> numbers_;
};

class CatalogueReader {
 public:
  // `lanes` are the bytes behind the catalogue, which `keeper` keeps.
  CatalogueReader(ByteReader catalogue, std::shared_ptr<const void> keeper,
                  std::span<const std::byte> lanes, NameTable* names)
      : in_(catalogue), keeper_(std::move(keeper)), lanes_(lanes) {
    for (uint32_t left = in_.GetCount(sizeof(uint32_t)); left > 0; --left) {
      names_.push_back(names->Intern(in_.GetText()));
    }
  }

  std::optional<RankTrace> Read() {
    RankTrace trace;
    for (uint32_t left = in_.GetCount(8); left > 0 && ok(); --left) {
      trace.tracks.push_back(ReadTrack());
    }
    if (!ok() || !lanes_.empty()) return std::nullopt;
    return trace;
  }

 private:
  bool ok() const { return is_sound_ && in_.ok(); }

  Track ReadTrack() {
    Track track;
    track.kind = in_.Get<TrackKind>();
    is_sound_ = is_sound_ && track.kind <= TrackKind::kCounter;
    track.device = in_.Get<int64_t>();
    track.id = in_.Get<int64_t>();
    track.label = in_.GetText();
    track.role = in_.GetText();
    track.unit = in_.GetText();
    std::vector<Sample> samples(in_.GetCount(sizeof(Sample)));
    for (Sample& sample : samples) sample = in_.Get<Sample>();
    track.series = Series(std::move(samples));
    for (uint32_t left = in_.GetCount(sizeof(LaneCounts)); left > 0 && ok(); --left) {
      if (auto lane = ReadLane()) track.lanes.push_back(std::move(*lane));
    }
    return track;
  }

  std::optional<Lane> ReadLane() {
    PackedLane packed;
    packed.counts = in_.Get<LaneCounts>();
    packed.names.resize(in_.GetCount(7));
    for (LaneName& entry : packed.names) {
      const auto number = in_.Get<uint32_t>();
      entry.category = in_.Get<Category>();
      entry.source = in_.Get<Source>();
      entry.is_open = in_.Get<uint8_t>() != 0;
      is_sound_ = is_sound_ && number < names_.size() &&
                  static_cast<size_t>(entry.category) < kCategories &&
                  entry.source <= Source::kDataWait;
      if (is_sound_) entry.name = names_[number];
    }
    const size_t bytes = LaneBytes(packed.counts);
    is_sound_ = is_sound_ && in_.ok() && bytes <= lanes_.size() && packed.counts.events > 0 &&
                packed.counts.categories == CategoriesOf(packed.names).size();
    if (!is_sound_) return std::nullopt;
    packed.bytes = std::shared_ptr<const std::byte>(keeper_, lanes_.data());
    lanes_ = lanes_.subspan(bytes);
    return Lane(std::move(packed));
  }

  ByteReader in_;
  std::shared_ptr<const void> keeper_;
  std::span<const std::byte> lanes_;
  std::vector<NameId> names_;
  bool is_sound_ = true;
};

}  // namespace

std::string CatalogueOf(const RankTrace& trace, const NameTable& names) {
  return CatalogueWriter(names).Write(trace);
}

std::optional<RankTrace> ReadImage(std::span<const std::byte> catalogue,
                                   std::span<const std::byte> lanes,
                                   std::shared_ptr<const void> keeper, NameTable* names) {
  return CatalogueReader(ByteReader(catalogue), std::move(keeper), lanes, names).Read();
}

}  // namespace tutti::viewer
