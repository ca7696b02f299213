// SPDX-License-Identifier: Apache-2.0
// Requests of the C interface: JSON objects in the words of the verbs' options.
#pragma once

#include <string>
#include <string_view>

#include "cli/inspection.h"
#include "cli/outcome.h"
#include "cli/prediction.h"
#include "cli/recommendation.h"
#include "joulecast/import.h"
#include "measure/meter.h"

namespace joulecast::c {

struct ModelRequest {
  std::string framework;
  InputShapes shapes;
};

// Null and "" ask for nothing but defaults. All fail with kInvalidInput for what is no object, for keys nobody knows
// and for values of a wrong type, naming the key.
tl::expected<cli::PredictionRequest, cli::Failure> parse_prediction_request(const char* text);
tl::expected<cli::RecommendationRequest, cli::Failure> parse_recommendation_request(const char* text);
tl::expected<ModelRequest, cli::Failure> parse_model_request(const char* text);
tl::expected<cli::InspectionRequest, cli::Failure> parse_inspection_request(const char* text);
tl::expected<MeterOptions, cli::Failure> parse_meter_request(const char* text);

}  // namespace joulecast::c
