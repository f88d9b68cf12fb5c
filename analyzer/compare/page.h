// Pages of comparisons and histories: one HTML file each, charts as SVG, no script at all and
// nothing fetched. Whatever comes from a trace goes through Escaped.
// Pure functions; callable from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::analyzer::compare {

// Fit for HTML text and attributes in double quotes.
std::string Escaped(std::string_view text);

// A whole page; `body` is markup, `title` text.
std::string Page(std::string_view title, std::string_view body);

// <section> with a heading; "" around nothing.
std::string Section(std::string_view heading, std::string_view markup);

// A table; cells are text. The first `left` columns are words, the rest figures. A row's class is
// one of "", "worse", "better", "open".
struct TableRow {
  std::vector<std::string> cells;
  std::string_view kind = "";
};
std::string Table(const std::vector<std::string>& header, const std::vector<TableRow>& rows,
                  size_t left);

// Where values lie on an axis, and where its ticks are: at most about `ticks` round values.
class Axis {
 public:
  // Maps [low, high] to [from, to] in pixels; a span of 0 is widened.
  Axis(double low, double high, double from, double to);

  double At(double value) const;
  std::vector<double> Ticks(int ticks) const;

 private:
  double low_;
  double high_;
  double from_;
  double to_;
};

// SVG of that size, in the order in which it is drawn.
class Drawing {
 public:
  Drawing(int width, int height, std::string_view described);

  // `kind` is a class of the page's style sheet; `said` is shown under the pointer.
  void Line(double x1, double y1, double x2, double y2, std::string_view kind);
  void Box(double x, double y, double width, double height, std::string_view kind,
           std::string_view said = "");
  void Dot(double x, double y, double radius, std::string_view kind, std::string_view said = "");
  void Path(const std::vector<std::pair<double, double>>& points, std::string_view kind);
  // Anchored at its start, middle or end.
  void Text(double x, double y, std::string_view anchor, std::string_view text,
            std::string_view kind = "label");
  std::string Finish() const { return svg_ + "</svg>\n"; }

 private:
  std::string svg_;
};

}  // namespace tutti::analyzer::compare
