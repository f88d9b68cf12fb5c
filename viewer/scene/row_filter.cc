#include "viewer/scene/row_filter.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

namespace tutti::viewer {
namespace {

constexpr std::string_view kRanks = "ranks:";
constexpr std::string_view kRank = "rank:";
constexpr std::string_view kCategory = "category:";

// Takes the number at the begin of `text`.
std::optional<int64_t> TakeNumber(std::string_view* text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

// "0-3,8"
std::vector<std::pair<int64_t, int64_t>> RanksIn(std::string_view text) {
  std::vector<std::pair<int64_t, int64_t>> ranks;
  while (!text.empty()) {
    const auto first = TakeNumber(&text);
    if (!first.has_value()) break;
    auto last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = TakeNumber(&text);
    }
    ranks.emplace_back(*first, last.value_or(*first));
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  return ranks;
}

std::bitset<kCategories> CategoriesLike(std::string_view begin) {
  std::bitset<kCategories> found;
  for (size_t i = 0; i < kCategories; ++i) {
    const std::string_view name = CategoryName(static_cast<Category>(i));
    found[i] = ContainsIgnoringCase(name.substr(0, begin.size()), begin);
  }
  return found;
}

}  // namespace

bool RowFilter::WantsRank(int64_t rank) const {
  if (!ranks.has_value()) return true;
  return std::any_of(ranks->begin(), ranks->end(), [rank](const auto& stretch) {
    return stretch.first <= rank && rank <= stretch.second;
  });
}

bool RowFilter::WantsLabel(std::string_view label) const {
  return ContainsIgnoringCase(label, text);
}

RowFilter ParseRowFilter(std::string_view typed) {
  RowFilter filter;
  std::istringstream words{std::string(typed)};
  for (std::string word; words >> word;) {
    const std::string_view view = word;
    if (view.starts_with(kRanks) || view.starts_with(kRank)) {
      auto ranks = RanksIn(view.substr(view.find(':') + 1));
      if (!ranks.empty()) filter.ranks = std::move(ranks);
    } else if (view.starts_with(kCategory)) {
      if (view.size() > kCategory.size()) {
        filter.categories = CategoriesLike(view.substr(kCategory.size()));
      }
    } else {
      filter.text += (filter.text.empty() ? "" : " ") + word;
    }
  }
  return filter;
}

std::string FilterFor(Category category) {
  const std::string_view name = CategoryName(category);
  return std::string(kCategory).append(name.substr(0, name.find(' ')));
}

bool ContainsIgnoringCase(std::string_view text, std::string_view part) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

}  // namespace tutti::viewer
