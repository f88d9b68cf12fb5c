#include "analyzer/metrics/op_flop.h"

#include <array>
#include <charconv>
#include <vector>

namespace tutti::analyzer {
namespace {

using Shape = std::vector<int64_t>;

// How an operator's inputs make a product: place of the first of the two factors.
struct Product {
  std::string_view name;
  size_t first;
};
constexpr std::array kProducts = {Product{"aten::mm", 0},    Product{"aten::_scaled_mm", 0},
                                  Product{"aten::addmm", 1}, Product{"aten::_addmm_activation", 1},
                                  Product{"aten::bmm", 0},   Product{"aten::baddbmm", 1}};

// Fused attention: place of the query; key and value follow.
struct Attention {
  std::string_view name;
  size_t query;
  double flop;  // for each of b h s t d
};
constexpr std::array kAttentions = {
    Attention{"aten::_scaled_dot_product_flash_attention", 0, 4},
    Attention{"aten::_scaled_dot_product_cudnn_attention", 0, 4},
    Attention{"aten::_scaled_dot_product_efficient_attention", 0, 4},
    Attention{"aten::_scaled_dot_product_flash_attention_backward", 1, 10},
    Attention{"aten::_scaled_dot_product_cudnn_attention_backward", 1, 10},
    Attention{"aten::_scaled_dot_product_efficient_attention_backward", 1, 10}};

constexpr std::array<std::string_view, 2> kConvolutions = {"aten::convolution",
                                                           "aten::convolution_backward"};
constexpr double kMostFlop = 9e18;

template <typename Known>
const typename Known::value_type* Find(const Known& known, std::string_view name) {
  for (const auto& entry : known) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// "[[2,3],[],[4]]" as shapes; inputs that are no tensors are empty. Nothing: it is not such a text.
std::optional<std::vector<Shape>> ParseShapes(std::string_view text) {
  std::vector<Shape> shapes;
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[') {
      if (++depth == 2) shapes.emplace_back();
    } else if (c == ']') {
      if (depth-- == 0) return std::nullopt;
    } else if (c >= '0' && c <= '9') {
      int64_t size = 0;
      const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), size);
      if (error != std::errc()) return std::nullopt;
      if (depth == 2) shapes.back().push_back(size);
      i = static_cast<size_t>(end - text.data()) - 1;
    } else if (c != ',' && c != ' ') {
      return std::nullopt;
    }
  }
  return depth == 0 ? std::optional(std::move(shapes)) : std::nullopt;
}

std::optional<int64_t> Whole(double flop) {
  return flop >= 0 && flop < kMostFlop ? std::optional(static_cast<int64_t>(flop)) : std::nullopt;
}

// [m, k] x [k, n], or [b, m, k] x [b, k, n].
std::optional<int64_t> FlopOfProduct(const Shape& a, const Shape& b) {
  if (a.size() != b.size() || (a.size() != 2 && a.size() != 3)) return std::nullopt;
  if (a.back() != b[b.size() - 2]) return std::nullopt;
  if (a.size() == 3 && a[0] != b[0]) return std::nullopt;
  double flop = 2 * static_cast<double>(b.back());
  for (const int64_t size : a) flop *= static_cast<double>(size);
  return Whole(flop);
}

// Queries [b, h, s, d] and keys [b, h, t, d].
std::optional<int64_t> FlopOfAttention(const Shape& query, const Shape& key, double factor) {
  if (query.size() != 4 || key.size() != 4 || query[3] != key[3]) return std::nullopt;
  double flop = factor * static_cast<double>(key[2]);
  for (const int64_t size : query) flop *= static_cast<double>(size);
  return Whole(flop);
}

}  // namespace

bool HasFlop(std::string_view name) {
  return Find(kProducts, name) != nullptr || Find(kAttentions, name) != nullptr;
}

bool IsConvolution(std::string_view name) {
  return name == kConvolutions[0] || name == kConvolutions[1];
}

std::optional<int64_t> FlopOf(std::string_view name, std::string_view text) {
  const std::optional<std::vector<Shape>> shapes = ParseShapes(text);
  if (!shapes) return std::nullopt;
  if (const Product* const product = Find(kProducts, name)) {
    if (shapes->size() < product->first + 2) return std::nullopt;
    return FlopOfProduct((*shapes)[product->first], (*shapes)[product->first + 1]);
  }
  if (const Attention* const attention = Find(kAttentions, name)) {
    if (shapes->size() < attention->query + 2) return std::nullopt;
    return FlopOfAttention((*shapes)[attention->query], (*shapes)[attention->query + 1],
                           attention->flop);
  }
  return std::nullopt;
}

}  // namespace tutti::analyzer
