// SPDX-License-Identifier: Apache-2.0
#include "report/page.h"

#include <fmt/format.h>

#include <utility>

#include "page_files.h"
#include "report/charts/charts.h"
#include "report/html.h"
#include "report/sections/sections.h"

namespace joulecast::report {
namespace {

// Nothing may be loaded from anywhere, whatever a hostile name would try. Vega's expressions are interpreted, so that
// not even `eval` is needed.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'";

// Charts of the whole page; a place in it is known by its number.
class Drawing {
 public:
  std::string add(Chart chart) {
    const std::size_t number = charts_.size();
    std::string html = fmt::format("<figure class=\"{}\">\n", chart.small ? "small" : "wide");
    html += element("figcaption", chart.title);
    html += fmt::format("<div class=\"chart\" id=\"chart-{}\" data-kind=\"{}\" role=\"img\" aria-label=\"{}\"></div>\n",
                        number, chart.id, html_text(chart.title));
    html += element("p", chart.caption, "caption") + "</figure>\n";
    charts_.push_back({{"unit", chart.unit}, {"spec", std::move(chart.spec)}, {"data", std::move(chart.data)}});
    return html;
  }
  [[nodiscard]] std::string json() const { return script_json(charts_); }

 private:
  Json charts_ = Json::array();
};

std::string section(std::string_view title, const std::string& html) {
  return html.empty() ? html : "<section>\n" + element("h3", title) + html + "</section>\n";
}

std::string charts_of(const RunView& run, Drawing& drawing) {
  std::string out;
  for (const ChartSection& part : chart_sections()) {
    std::string figures;
    for (Chart& chart : part.make(run)) figures += drawing.add(std::move(chart));
    if (!figures.empty()) out += section(part.title, "<div class=\"figures\">\n" + figures + "</div>\n");
  }
  return out;
}

std::string run_html(const RunView& run, std::size_t number, bool charts, Drawing& drawing) {
  std::string out = fmt::format("<article id=\"run-{}\">\n", number);
  out += "<h2><code>" + html_text(command_line(run.recording)) + "</code></h2>\n" + header_section(run);
  out += section("Summary", summary_section(run));
  out += section("Warnings", warnings_section(run));
  if (charts) out += charts_of(run, drawing);
  out += section("Sensors", sensors_section(run));
  out += section("Devices and settings as found", devices_section(run));
  return out + "</article>\n";
}

std::string group_html(const SweepView& sweep, const SweepGroup& group, bool charts, Drawing& drawing) {
  std::string figures;
  if (charts) {
    for (Chart& chart : sweep_charts(sweep, group)) figures += drawing.add(std::move(chart));
  }
  if (!figures.empty()) figures = "<div class=\"figures\">\n" + figures + "</div>\n";
  return section(group.group.empty() ? "All runs" : group.group,
                 figures + sweep_section(group) + sweep_models_section(group));
}

std::string sweep_html(const SweepView& sweep, std::size_t number, bool charts, Drawing& drawing) {
  std::string out = fmt::format("<article id=\"sweep-{}\">\n", number);
  out += "<h2>Sweep <code>" + html_text(sweep.path) + "</code></h2>\n" + sweep_header_section(sweep);
  std::vector<std::string> doubts = sweep.loaded.doubts;
  for (const std::string& one : sweep.loaded.left_out) doubts.push_back("left out: " + one);
  out += section("Warnings", bullet_list(doubts, "warnings"));
  for (const SweepGroup& group : sweep.groups) out += group_html(sweep, group, charts, drawing);
  return out + "</article>\n";
}

std::string article_html(const Article& article, bool charts, Drawing& drawing) {
  std::string figures;
  if (charts) {
    for (const Chart& chart : article.charts) figures += drawing.add(chart);
  }
  if (!figures.empty()) figures = "<div class=\"figures\">\n" + figures + "</div>\n";
  return "<article>\n" + element("h2", article.title) + figures + article.html + "</article>\n";
}

std::string contents(const PageContent& content) {
  if (content.runs.size() < 2) return {};
  std::string out = "<nav><ol>\n";
  for (std::size_t i = 0; i < content.runs.size(); ++i) {
    out += fmt::format("<li><a href=\"#run-{}\"><code>{}</code></a> <small>{}</small></li>\n", i,
                       html_text(command_line(content.runs[i]->recording)), html_text(content.runs[i]->path));
  }
  return out + "</ol></nav>\n";
}

std::string title_of(const PageContent& content) {
  constexpr std::size_t kLongest = 80;
  std::string out = "report";
  if (!content.articles.empty()) out = content.articles.front().title;
  if (!content.sweeps.empty()) out = "sweep " + content.sweeps.front()->path;
  if (!content.runs.empty()) out = command_line(content.runs.front()->recording);
  if (out.size() > kLongest) out = out.substr(0, kLongest) + "…";
  return out;
}

std::string scripts(const Drawing& drawing, const PageOptions& options) {
  if (!options.draw) return {};
  return "<script>" + *options.draw + "</script>\n<script type=\"application/json\" id=\"charts\">" + drawing.json() +
         "</script>\n<script>" + kPageScript + "</script>\n";
}

}  // namespace

std::string page(const PageContent& content, const PageOptions& options) {
  Drawing drawing;
  std::string body = fmt::format("<header><h1>joulecast</h1>{}</header>\n<main>\n",
                                 element("p", options.made_utc.empty() ? "" : "Report made " + options.made_utc));
  body += contents(content);
  if (!options.draw) body += element("p", "This report was made without charts.", "caption");
  if (content.job) body += ranks_section(*content.job);
  for (const Article& article : content.articles) body += article_html(article, options.draw.has_value(), drawing);
  for (std::size_t i = 0; i < content.sweeps.size(); ++i) {
    body += sweep_html(*content.sweeps[i], i, options.draw.has_value(), drawing);
  }
  for (std::size_t i = 0; i < content.runs.size(); ++i) {
    body += run_html(*content.runs[i], i, options.draw.has_value(), drawing);
  }
  const bool devices = !content.runs.empty() || !content.sweeps.empty();
  body += cite_section(options.tool, options.draw.has_value(), devices) + "</main>\n";
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"generator\" content=\"{}\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<title>{}</title>\n<style>",
             kPolicy, html_text(options.tool), html_text(title_of(content))) +
         kPageStyle + "</style>\n</head>\n<body>\n" + body + scripts(drawing, options) + "</body>\n</html>\n";
}

}  // namespace joulecast::report
