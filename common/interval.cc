#include "common/interval.h"

#include <algorithm>
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

using Runs = std::vector<std::span<const Interval>>;

// Merges neighbours among |runs| in pairs into |out|, which has room for all of them. Two pairs
// at a time: each step of a pair waits for the one before it, those of two pairs don't.
Runs MergePairs(const Runs& runs, Interval* out) {
  Runs merged;
  const auto run = [&](size_t i) { return i < runs.size() ? runs[i] : Runs::value_type(); };
  for (size_t i = 0; i < runs.size(); i += 4) {
    Interval* const second_out = out + run(i).size() + run(i + 1).size();
    Merger first(run(i), run(i + 1), out);
    Merger second(run(i + 2), run(i + 3), second_out);
    while (first.CanStep() & second.CanStep()) {
      first.Step();
      second.Step();
    }
    merged.emplace_back(out, first.Finish());
    if (i + 2 < runs.size()) merged.emplace_back(second_out, second.Finish());
    out = second_out + run(i + 2).size() + run(i + 3).size();
  }
  return merged;
}

// The union of |runs|, which hold |size| intervals, in |*from|, with |*to| for scratch.
std::span<const Interval> UnionInto(Runs runs, size_t size, IntervalSet* from, IntervalSet* to) {
  if (from->size() < size) from->resize(size);
  if (to->size() < size) to->resize(size);
  do {  // also for a single run, which may overlap with itself
    std::swap(from, to);
    runs = MergePairs(runs, from->data());
  } while (runs.size() > 1);
  return runs.front();
}

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
  constexpr size_t kPieceIntervals = 1u << 15;  // what is merged at once stays in the cache
  Runs rest;
  size_t size = 0;
  Interval all{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const auto& run : runs) {
    if (run.empty()) continue;
    rest.push_back(run);
    size += run.size();
    all = {std::min(all.begin_ns, run.front().begin_ns), std::max(all.end_ns, run.back().begin_ns)};
  }
  IntervalSet result;
  result.reserve(size);
  IntervalSet scratch[2];
  const auto pieces = static_cast<int64_t>(size / kPieceIntervals + 1);
  for (int64_t piece = 1; piece <= pieces && !rest.empty(); ++piece) {
    const int64_t until_ns = all.begin_ns + (all.end_ns / pieces - all.begin_ns / pieces) * piece;
    const bool is_last = piece == pieces;
    size_t taken = 0;
    Runs parts;
    for (auto& run : rest) {
      const auto end =
          is_last ? run.end()
                  : std::partition_point(run.begin(), run.end(),
                                         [&](const Interval& i) { return i.begin_ns < until_ns; });
      const auto count = static_cast<size_t>(end - run.begin());
      if (count != 0) parts.push_back(run.first(count));
      run = run.subspan(count);
      taken += count;
    }
    if (parts.empty()) continue;
    for (const Interval& i : UnionInto(std::move(parts), taken, &scratch[0], &scratch[1])) {
      AppendNonEmpty(result, i.begin_ns, i.end_ns);
    }
  }
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
