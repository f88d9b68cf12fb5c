// The report as one self-contained page: the page of analyzer/report/html/ and, as a JSON block
// that no browser takes for markup, the report of RenderJson with the series that it draws.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/report/html_page.h"
#include "analyzer/report/render.h"
#include "common/text.h"
#include "schema/catalog.h"

namespace tutti::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 400;  // of a list of the report, so that the file stays small

Json GroupsOf(const ReportSeries& series) {
  Json groups = Json::array();
  for (const StepGroup& group : series.groups) {
    groups.push_back({{"first", group.first},
                      {"last", group.last},
                      {"first_number", group.first_number},
                      {"last_number", group.last_number},
                      {"count", group.count},
                      {"state", group.state}});
  }
  return groups;
}

Json CellsOf(const RankSteps& rank) {
  Json cells = {{"rank", rank.rank},       {"steps", rank.steps},
                {"step_ns", rank.step_ns}, {"longest_ns", rank.longest_ns},
                {"comm_ns", rank.comm_ns}, {"exposed_ns", rank.exposed_ns},
                {"parts", Json::object()}};
  for (size_t part = 0; part < kStepParts.size(); ++part) {
    const std::vector<int64_t>& values = rank.parts[part];
    const bool is_seen = std::any_of(values.begin(), values.end(), [](int64_t v) { return v > 0; });
    if (is_seen) cells["parts"][std::string(kStepParts[part].name)] = values;
  }
  return cells;
}

Json LatenessOf(const ReportData& data, const ReportSeries& series) {
  Json rows = Json::array();
  for (const RankLateness& one : series.lateness) {
    Json row = {{"rank", one.rank}, {"calls", one.calls}, {"late_ns", one.late_ns}};
    for (const schema::StragglerRow& straggler : data.stragglers) {
      if (straggler.rank != one.rank) continue;
      row["times_last"] = straggler.times_last;
      row["collectives"] = straggler.collectives;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json MemoryOf(const ReportSeries& series) {
  Json lines = Json::array();
  for (const MemoryLine& line : series.memory) {
    lines.push_back({{"rank", line.rank},
                     {"device_type", ToStorableText(line.device_type)},
                     {"device_id", line.device_id},
                     {"begin_ns", line.begin_ns},
                     {"end_ns", line.end_ns},
                     {"max_bytes", line.max_bytes}});
  }
  return lines;
}

Json TimelineOf(const StepTimeline& timeline) {
  Json json = {{"step", timeline.step},
               {"number", timeline.number},
               {"length_ns", timeline.length_ns},
               {"left_out", timeline.left_out},
               {"is_coarse", false},
               {"overlap", Json::object()},
               {"ranks", Json::array()}};
  for (const RankTimeline& rank : timeline.ranks) {
    Json spans = Json::object();
    for (const auto& [kind, list] : rank.spans) {
      for (const TimelineSpan& span : list) {
        spans[kind].push_back({span.begin_ns, span.end_ns, span.busy_ns});
        if (span.busy_ns < span.end_ns - span.begin_ns) json["is_coarse"] = true;
      }
    }
    json["overlap"][std::to_string(rank.rank)] = {{"comm_ns", rank.comm_ns},
                                                  {"exposed_ns", rank.exposed_ns}};
    json["ranks"].push_back({{"rank", rank.rank},
                             {"begin_ns", rank.begin_ns},
                             {"end_ns", rank.end_ns},
                             {"spans", std::move(spans)}});
  }
  return json;
}

Json SeriesOf(const ReportData& data, const ReportSeries& series) {
  Json json;
  json["groups"] = GroupsOf(series);
  json["is_grouped"] = series.groups.size() < data.steps.size();
  json["cells"] = Json::array();
  for (const RankSteps& rank : series.ranks) {
    if (!series.groups.empty()) json["cells"].push_back(CellsOf(rank));
  }
  json["skew"] = {
      {"count", series.skew.count}, {"p50_ns", series.skew.p50_ns}, {"max_ns", series.skew.max_ns}};
  json["lateness"] = LatenessOf(data, series);
  json["run_ns"] = series.run_ns;
  json["memory"] = MemoryOf(series);
  json["memory_left_out"] = series.memory_left_out;
  json["timeline"] = TimelineOf(series.timeline);
  return json;
}

// The ranks that the series have; of the other lists the first rows, which matter most.
Json Shorten(const ReportSeries& series, Json& report) {
  Json left_out = {{"ranks", series.ranks_left_out}};
  if (series.ranks_left_out > 0) {
    std::map<int64_t, bool> shown;
    for (const RankSteps& rank : series.ranks) shown[rank.rank] = true;
    Json ranks = Json::array();
    int64_t steps = 0;
    for (Json& rank : report["ranks"]) {
      if (shown.contains(rank["rank"].get<int64_t>())) {
        ranks.push_back(std::move(rank));
      } else {
        steps += rank.value("steps", int64_t{0});
      }
    }
    report["ranks"] = std::move(ranks);
    left_out["rank_steps"] = steps;
  }
  const auto cut = [&](Json& list, const std::string& name) {
    if (!list.is_array() || list.size() <= kMostRows) return;
    left_out[name] = list.size() - kMostRows;
    list.erase(list.begin() + static_cast<ptrdiff_t>(kMostRows), list.end());
  };
  for (const char* name : {"collectives", "memory", "memory_holders", "memory_states", "loaders",
                           "copies", "launches", "findings"}) {
    cut(report[name], name);
  }
  cut(report["data_quality"]["issues"], "issues");
  if (report["device"].is_object()) cut(report["device"]["devices"], "devices");
  return left_out;
}

// The column by which a table of the derived ones is looked into: what an evidence's row_id is.
Json DerivedKeys() {
  Json keys = Json::object();
  for (const schema::CatalogTable& table : schema::DerivedCatalog().tables) {
    if (table.is_view) continue;
    keys[table.name] = table.Find("id") != nullptr     ? "id"
                       : table.Find("step") != nullptr ? "step"
                                                       : table.columns.front().name;
  }
  return keys;
}

// |json| as the inside of a script element that is data: nothing in it can end the element.
std::string InScript(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<' || c == '>' || c == '&') {
      constexpr char kDigits[] = "0123456789abcdef";
      safe += std::string("\\u00") + kDigits[c >> 4] + kDigits[c & 15];
    } else if (json.compare(i, 2, "\xe2\x80") == 0 && i + 2 < json.size() &&
               (json[i + 2] == '\xa8' || json[i + 2] == '\xa9')) {
      safe += json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string RenderHtml(const ReportData& data, const ReportSeries& series) {
  Json report = Json::parse(RenderJson(data));
  Json page;
  page["schema"] = "tutti.report_page/1";
  page["left_out"] = Shorten(series, report);
  page["report"] = std::move(report);
  page["series"] = SeriesOf(data, series);
  page["derived_keys"] = DerivedKeys();
  const std::string json = page.dump(-1, ' ', false, Json::error_handler_t::replace);
  return kPageBeforeData + InScript(json) + kPageAfterData;
}

}  // namespace tutti::analyzer
