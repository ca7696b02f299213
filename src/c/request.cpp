// SPDX-License-Identifier: Apache-2.0
#include "c/request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/json.h"
#include "cli/measure/sensor_choice.h"
#include "cli/options.h"
#include "cli/version.h"

namespace joulecast::c {
namespace {

using cli::Json;
using cli::Outcome;
using Setter = std::function<Outcome(const Json&)>;
using Setters = std::map<std::string, Setter, std::less<>>;

Outcome wrong(std::string_view what) {
  return cli::usage(fmt::format("is no {}", what));
}

// Numbers are written as the options take them.
std::optional<std::string> scalar(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  return std::nullopt;
}

Setter word(std::string& out) {
  return [&out](const Json& value) -> Outcome {
    if (!value.is_string()) return wrong("string");
    out = value.get<std::string>();
    return {};
  };
}

// One value or a list of them.
Setter words(std::vector<std::string>& out) {
  return [&out](const Json& value) -> Outcome {
    out.clear();
    for (const Json& one : value.is_array() ? value : Json::array({value})) {
      auto text = scalar(one);
      if (!text) return wrong("string or number, or list of them");
      out.push_back(std::move(*text));
    }
    return {};
  };
}

// A word, or a number for one.
Setter word_or_number(std::string& out) {
  return [&out](const Json& value) -> Outcome {
    auto text = scalar(value);
    if (!text) return wrong("string or number");
    out = std::move(*text);
    return {};
  };
}

Setter count(std::size_t& out) {
  return [&out](const Json& value) -> Outcome {
    if (!value.is_number_unsigned()) return wrong("whole number");
    out = value.get<std::size_t>();
    return {};
  };
}

Setter flag(bool& out) {
  return [&out](const Json& value) -> Outcome {
    if (!value.is_boolean()) return wrong("true or false");
    out = value.get<bool>();
    return {};
  };
}

// {"input": [8, 3, 224, 224]} as the option --shapes has it: "input:8x3x224x224".
Setter shapes(std::vector<std::string>& out) {
  return [&out](const Json& value) -> Outcome {
    if (!value.is_object()) return wrong("object of shapes");
    out.clear();
    for (const auto& [name, extents] : value.items()) {
      std::vector<std::int64_t> shape;
      if (!extents.is_array()) return wrong("object of lists of whole numbers");
      for (const Json& extent : extents) {
        if (!extent.is_number_integer()) return wrong("object of lists of whole numbers");
        shape.push_back(extent.get<std::int64_t>());
      }
      out.push_back(fmt::format("{}:{}", name, fmt::join(shape, "x")));
    }
    return {};
  };
}

// A number or nothing: "batch" of inspect.
Setter one_number(std::optional<std::int64_t>& out) {
  return [&out](const Json& value) -> Outcome {
    if (!value.is_number_integer()) return wrong("whole number");
    out = value.get<std::int64_t>();
    return {};
  };
}

Setter word(std::optional<std::string>& out) {
  return [&out](const Json& value) -> Outcome { return word(out.emplace())(value); };
}

Setter number(std::optional<double>& out) {
  return [&out](const Json& value) -> Outcome {
    if (!value.is_number()) return wrong("number");
    out = value.get<double>();
    return {};
  };
}

Outcome parse(const char* text, const Setters& setters) {
  const std::string_view given = text == nullptr ? std::string_view{} : text;
  if (given.empty()) return {};
  const Json request = Json::parse(given, nullptr, false);
  if (!request.is_object()) return cli::usage("the request is no JSON object", R"(like {"gpu": "a100", "batch": 8})");
  for (const auto& [key, value] : request.items()) {
    const auto setter = setters.find(key);
    if (setter == setters.end()) {
      std::vector<std::string_view> known;
      for (const auto& [name, unused] : setters) known.push_back(name);
      return cli::usage(fmt::format("the request has no '{}'", key),
                        fmt::format("there are {}", fmt::join(known, ", ")));
    }
    if (value.is_null()) continue;
    if (auto done = setter->second(value); !done) {
      cli::Failure failure = std::move(done).error();
      failure.error = std::move(failure.error).in(fmt::format("'{}' of the request", key));
      return tl::unexpected(std::move(failure));
    }
  }
  return {};
}

// From gpu to optimizer, and what was measured.
Setters workload_setters(cli::PredictionRequest& out) {
  return {{"mode", word(out.mode)},           {"precision", word(out.precision)},
          {"runtime", word(out.runtime)},     {"layout", word(out.layout)},
          {"host", word_or_number(out.host)}, {"optimizer", word(out.optimizer)},
          {"gpu", words(out.gpus)},           {"batch", words(out.batches)},
          {"shapes", shapes(out.shapes)},     {"measured", words(out.settings.measured)}};
}

}  // namespace

tl::expected<cli::PredictionRequest, cli::Failure> parse_prediction_request(const char* text) {
  cli::PredictionRequest out;
  Setters setters = workload_setters(out);
  setters.insert({{"top", count(out.top)},
                  {"breakdown", flag(out.breakdown)},
                  {"sm_clock", words(out.settings.clocks)},
                  {"power_limit", words(out.settings.limits)}});
  JC_RETURN_IF_FAILURE(parse(text, setters));
  return out;
}

tl::expected<cli::RecommendationRequest, cli::Failure> parse_recommendation_request(const char* text) {
  cli::RecommendationRequest out;
  Setters setters = workload_setters(out.prediction);
  setters.insert({{"best", word(out.best)},
                  {"choose", word(out.choose)},
                  {"within_s", number(out.within_s)},
                  {"slowdown_percent", number(out.slowdown_percent)}});
  JC_RETURN_IF_FAILURE(parse(text, setters));
  return out;
}

tl::expected<ModelRequest, cli::Failure> parse_model_request(const char* text) {
  ModelRequest out;
  std::vector<std::string> given;
  JC_RETURN_IF_FAILURE(parse(text, {{"framework", word(out.framework)}, {"shapes", shapes(given)}}));
  JC_ASSIGN_OR_FAIL(const Binding bound, cli::binding({.batch = {}, .shapes = std::move(given)}));
  out.shapes = bound.shapes;
  return out;
}

tl::expected<cli::InspectionRequest, cli::Failure> parse_inspection_request(const char* text) {
  cli::InspectionRequest out;
  JC_RETURN_IF_FAILURE(parse(text, {{"batch", one_number(out.shapes.batch)},
                                    {"shapes", shapes(out.shapes.shapes)},
                                    {"top", count(out.top)},
                                    {"as_written", flag(out.as_written)}}));
  return out;
}

tl::expected<MeterOptions, cli::Failure> parse_meter_request(const char* text) {
  cli::SensorChoice choice;
  MeterOptions out;
  std::vector<std::string> gpus;
  bool force = false;
  JC_RETURN_IF_FAILURE(parse(text, {{"gpu", words(gpus)},
                                    {"interval_ms", number(choice.interval_ms)},
                                    {"meters", words(choice.meters)},
                                    {"replay", word(choice.replay)},
                                    {"output", word(out.output)},
                                    {"force", flag(force)},
                                    {"command", words(out.command)}}));
  if (!gpus.empty()) choice.gpu = fmt::format("{}", fmt::join(gpus, ","));
  if (choice.interval_ms && !(*choice.interval_ms > 0)) {
    return cli::usage("'interval_ms' of the request is no positive number");
  }
  out.sensors = cli::sensor_options(choice);
  out.existing = force ? Existing::kReplace : Existing::kRefuse;
  out.tool_version = cli::version();
  return out;
}

}  // namespace joulecast::c
