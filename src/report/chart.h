// SPDX-License-Identifier: Apache-2.0
// A chart: a Vega-Lite specification and its data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/text.h"

namespace joulecast::report {

// Foreign text may be in the title, the caption and the data, never in `id` or `spec`: Vega takes some strings of a
// specification for expressions.
struct Chart {
  std::string id;
  std::string title;
  std::string caption;  // what one has to know to read it; may be empty
  Json spec;
  Json data = Json::object();  // by the names that `spec` uses: lists of blocks
  // What the pointer tells of: lines of the block list "lines" over "time_s".
  std::string unit = {};  // empty: not a chart over time
  bool small = false;     // one of several alike, beside one another
};

// Rows that share some fields: `constants` are the same in all, `columns` have one entry a row. A tenth of the bytes
// that a list of objects takes.
Json block(Json constants, Json columns);

// Four digits: what is drawn needs no more, and pages stay small.
double drawn(double value);

// {"$schema": ..., "width": "container", "height": height}
Json new_spec(int height);
Json time_axis();                               // of field "time_s"
Json value_axis(const char* title, bool zero);  // of field "value"
// Of a nominal field, ours and few.
Json color(const char* field, const char* title);

// Params of a layer: all charts over time zoom together, and the legend picks.
Json zoom_and_pick(const char* field);
// 1 for what the legend has picked, else nearly nothing.
Json picked_opacity(double picked);

}  // namespace joulecast::report
