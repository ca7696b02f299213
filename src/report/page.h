// SPDX-License-Identifier: Apache-2.0
// One HTML file that holds everything it shows and asks no network for anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks.h"
#include "report/chart.h"
#include "report/run_view.h"
#include "report/sweep_view.h"

namespace joulecast::report {

struct PageOptions {
  std::string tool;                 // "joulecast 0.1.0"
  std::string made_utc;             // when; empty leaves it out
  std::optional<std::string> draw;  // the script that draws charts; absent: a page of words and tables
};

// A part of the page with a title of its own, for those who have other things to show than runs.
struct Article {
  std::string title;
  std::string html;           // ours: text of others was escaped by what is in html.h
  std::vector<Chart> charts;  // above it
};

struct PageContent {
  std::vector<Article> articles;
  std::vector<const RunView*> runs;
  std::vector<const SweepView*> sweeps;
  std::optional<RankSum> job;
};

std::string page(const PageContent& content, const PageOptions& options);

}  // namespace joulecast::report
