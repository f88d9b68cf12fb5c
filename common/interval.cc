#include "common/interval.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>

namespace tutti {
namespace {

void AppendNonEmpty(IntervalSet& set, int64_t begin_ns, int64_t end_ns) {
  if (begin_ns >= end_ns) return;
  if (!set.empty() && set.back().end_ns >= begin_ns) {
    set.back().end_ns = std::max(set.back().end_ns, end_ns);
  } else {
    set.push_back({begin_ns, end_ns});
  }
}

// |when_true| or |when_false| by arithmetic: a compiler may turn ?: into a branch, and which
// of two threads goes on next can't be predicted.
int64_t Select(bool condition, int64_t when_true, int64_t when_false) {
  return when_false ^ ((when_false ^ when_true) & -int64_t{condition});
}

// Appends intervals that come sorted to a canonical set in memory that is large enough.
class UnionWriter {
 public:
  explicit UnionWriter(Interval* out) : out_(out) {}

  void Append(int64_t begin_ns, int64_t end_ns) {
    if (begin_ns >= end_ns) [[unlikely]]
      return;
    const bool is_new = (begin_ns > last_end_ns_) | (size_ == 0);
    size_ += is_new;
    last_begin_ns_ = Select(is_new, begin_ns, last_begin_ns_);
    last_end_ns_ = std::max(last_end_ns_, end_ns);  // a new one ends behind all others
    out_[size_ - 1] = {last_begin_ns_, last_end_ns_};
  }
  Interval* end() const { return out_ + size_; }

 private:
  Interval* const out_;
  size_t size_ = 0;
  int64_t last_begin_ns_ = 0;
  int64_t last_end_ns_ = std::numeric_limits<int64_t>::min();
};

// Merges two sorted lists, one interval a step.
class Merger {
 public:
  Merger(std::span<const Interval> a, std::span<const Interval> b, Interval* out)
      : left_(a.data()),
        left_end_(a.data() + a.size()),
        right_(b.data()),
        right_end_(b.data() + b.size()),
        writer_(out) {}

  bool CanStep() const { return (left_ != left_end_) & (right_ != right_end_); }
  void Step() {
    const Interval a = *left_;
    const Interval b = *right_;
    const bool takes_right = b.begin_ns < a.begin_ns;
    right_ += takes_right;
    left_ += !takes_right;
    writer_.Append(Select(takes_right, b.begin_ns, a.begin_ns),
                   Select(takes_right, b.end_ns, a.end_ns));
  }
  // Returns the end of what was written.
  Interval* Finish() {
    while (CanStep()) Step();
    for (; left_ != left_end_; ++left_) writer_.Append(left_->begin_ns, left_->end_ns);
    for (; right_ != right_end_; ++right_) writer_.Append(right_->begin_ns, right_->end_ns);
    return writer_.end();
  }

 private:
  const Interval* left_;
  const Interval* const left_end_;
  const Interval* right_;
  const Interval* const right_end_;
  UnionWriter writer_;
};

// The intervals that begin in a short stretch of time, as one number each: when they begin
// within it, then how long they last. To sort these is to sort half the bytes, and done digit
// by digit no branch depends on the data.
class PackedPiece {
 public:
  void Begin(int64_t begin_ns) {
    begin_ns_ = begin_ns;
    size_ = 0;
    begins_ = 0;
    lengths_ = 0;
  }
  // Takes those at the front of `run` that begin before `until_ns`, or all; returns how many.
  size_t Take(std::span<const Interval> run, int64_t until_ns, bool all) {
    size_t count = all ? run.size() : 0;
    while (count < run.size() && run[count].begin_ns < until_ns) ++count;
    if (keys_.size() < size_ + count) keys_.resize(size_ + count);
    uint64_t* const out = keys_.data() + size_;
    for (size_t i = 0; i < count; ++i) {
      const auto begin_ns = static_cast<uint64_t>(run[i].begin_ns);
      const uint64_t begin = begin_ns - static_cast<uint64_t>(begin_ns_);
      const uint64_t length = static_cast<uint64_t>(run[i].end_ns) - begin_ns;
      begins_ |= begin;
      lengths_ |= length;
      out[i] = begin << kLengthBits | length;
    }
    size_ += count;
    return count;
  }
  // Whether each fits into its number: not if one begins or lasts 4.3 s or more.
  bool Fits() const { return ((begins_ | lengths_) >> kLengthBits) == 0; }

  // Appends them in order.
  void AppendTo(UnionWriter& writer) {
    const auto bits = static_cast<int>(std::bit_width(begins_));
    for (int bit = 0; bit < bits; bit += kDigitBits) SortByDigit(kLengthBits + bit);
    constexpr uint64_t kLength = (uint64_t{1} << kLengthBits) - 1;
    for (size_t i = 0; i < size_; ++i) {
      const int64_t begin_ns = begin_ns_ + static_cast<int64_t>(keys_[i] >> kLengthBits);
      writer.Append(begin_ns, begin_ns + static_cast<int64_t>(keys_[i] & kLength));
    }
  }

 private:
  static constexpr int kLengthBits = 32;
  static constexpr int kDigitBits = 9;

  // Keeps the order of those with equal digits.
  void SortByDigit(int shift) {
    constexpr uint64_t kDigit = (uint64_t{1} << kDigitBits) - 1;
    if (scratch_.size() < keys_.size()) scratch_.resize(keys_.size());
    std::array<size_t, kDigit + 1> place{};
    for (size_t i = 0; i < size_; ++i) ++place[keys_[i] >> shift & kDigit];
    size_t sum = 0;
    for (size_t& digit : place) sum += std::exchange(digit, sum);
    for (size_t i = 0; i < size_; ++i) scratch_[place[keys_[i] >> shift & kDigit]++] = keys_[i];
    keys_.swap(scratch_);
  }

  std::vector<uint64_t> keys_;
  std::vector<uint64_t> scratch_;
  size_t size_ = 0;
  int64_t begin_ns_ = 0;
  uint64_t begins_ = 0;   // all of them by OR
  uint64_t lengths_ = 0;  // the same
};

bool BeginsEarlier(const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; }

}  // namespace

void SortByBegin(std::vector<Interval>& intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), BeginsEarlier)) {
    std::sort(intervals.begin(), intervals.end(), BeginsEarlier);
  }
}

IntervalSet Union(std::span<const Interval> sorted) {
  IntervalSet result;
  for (const Interval& interval : sorted) {
    AppendNonEmpty(result, interval.begin_ns, interval.end_ns);
  }
  return result;
}

IntervalSet Intersect(std::span<const Interval> a, std::span<const Interval> b) {
  IntervalSet result;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    AppendNonEmpty(result, std::max(left->begin_ns, right->begin_ns),
                   std::min(left->end_ns, right->end_ns));
    if (left->end_ns < right->end_ns) {
      ++left;
    } else {
      ++right;
    }
  }
  return result;
}

IntervalSet Subtract(std::span<const Interval> a, std::span<const Interval> b) {
  IntervalSet result;
  auto hole = b.begin();
  for (const Interval& interval : a) {
    int64_t begin_ns = interval.begin_ns;
    while (hole != b.end() && hole->end_ns <= begin_ns) ++hole;
    for (auto next = hole; next != b.end() && next->begin_ns < interval.end_ns; ++next) {
      AppendNonEmpty(result, begin_ns, next->begin_ns);
      begin_ns = std::max(begin_ns, next->end_ns);
    }
    AppendNonEmpty(result, begin_ns, interval.end_ns);
  }
  return result;
}

IntervalSet Merge(std::span<const Interval> a, std::span<const Interval> b) {
  IntervalSet result(a.size() + b.size());
  result.resize(static_cast<size_t>(Merger(a, b, result.data()).Finish() - result.data()));
  return result;
}

IntervalSet UnionOfRuns(const std::vector<std::span<const Interval>>& runs) {
  constexpr size_t kPieceIntervals = 1u << 12;  // what is sorted at once stays in the cache
  std::vector<std::span<const Interval>> rest;
  size_t size = 0;
  Interval begins{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const auto& run : runs) {
    if (run.empty()) continue;
    rest.push_back(run);
    size += run.size();
    begins = {std::min(begins.begin_ns, run.front().begin_ns),
              std::max(begins.end_ns, run.back().begin_ns)};
  }
  IntervalSet result(size);
  UnionWriter writer(result.data());
  const size_t pieces = size / kPieceIntervals + 1;
  // Unsigned: the length of the longest time there is does not fit a signed number.
  const auto first_ns = static_cast<uint64_t>(begins.begin_ns);
  const uint64_t width_ns = (static_cast<uint64_t>(begins.end_ns) - first_ns) / pieces;
  PackedPiece packed;
  std::vector<Interval> unpacked;
  for (size_t piece = 0; piece < pieces && size > 0; ++piece) {
    const bool is_last = piece + 1 == pieces;
    const uint64_t from_ns = first_ns + width_ns * piece;
    const auto until_ns = static_cast<int64_t>(from_ns + width_ns);
    packed.Begin(static_cast<int64_t>(from_ns));
    unpacked.clear();
    const auto whole = rest;
    for (auto& run : rest) run = run.subspan(packed.Take(run, until_ns, is_last));
    if (packed.Fits()) {
      packed.AppendTo(writer);
      continue;
    }
    for (size_t i = 0; i < rest.size(); ++i) {
      unpacked.insert(unpacked.end(), whole[i].begin(), whole[i].end() - std::ssize(rest[i]));
    }
    SortByBegin(unpacked);
    for (const Interval& interval : unpacked) writer.Append(interval.begin_ns, interval.end_ns);
  }
  result.resize(static_cast<size_t>(writer.end() - result.data()));
  return result;
}

int64_t TotalNs(std::span<const Interval> set) {
  int64_t total_ns = 0;
  for (const Interval& interval : set) total_ns += interval.length_ns();
  return total_ns;
}

IntervalSet Clip(std::span<const Interval> set, Interval window) {
  const auto first = std::partition_point(set.begin(), set.end(), [&](const Interval& interval) {
    return interval.end_ns <= window.begin_ns;
  });
  IntervalSet result;
  for (auto it = first; it != set.end() && it->begin_ns < window.end_ns; ++it) {
    AppendNonEmpty(result, std::max(it->begin_ns, window.begin_ns),
                   std::min(it->end_ns, window.end_ns));
  }
  return result;
}

}  // namespace tutti
