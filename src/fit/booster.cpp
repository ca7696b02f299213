// SPDX-License-Identifier: Apache-2.0
#include "fit/booster.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "predict/trees/xgboost.h"

namespace joulecast {
namespace {

// What was wrong, of "[08:41:14] ../src/data/data.cc:1104: Check failed: ...\nStack trace:\n  [bt] (0) ...".
std::string_view complaint(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kFailed = "Check failed: ";
  const std::size_t at = text.find(kFailed);
  return at == std::string_view::npos ? text : text.substr(at + kFailed.size());
}

Result<void> check(int status, std::string_view what) {
  if (status == 0) return {};
  return invalid(fmt::format("XGBoost: {}: {}", what, complaint(XGBGetLastError())));
}

// Handles of the C interface, freed on every way out.
struct Matrix {
  DMatrixHandle handle = nullptr;
  Matrix() = default;
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() {
    if (handle != nullptr) XGDMatrixFree(handle);
  }
};

struct Booster {
  BoosterHandle handle = nullptr;
  Booster() = default;
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  ~Booster() {
    if (handle != nullptr) XGBoosterFree(handle);
  }
};

Result<void> load(const TrainingSet& set, Matrix& matrix) {
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  JC_RETURN_IF_ERROR(
      check(XGDMatrixCreateFromMat(set.features.data(), set.rows(), set.width, kMissing, &matrix.handle), "rows"));
  JC_RETURN_IF_ERROR(check(XGDMatrixSetFloatInfo(matrix.handle, "label", set.targets.data(), set.rows()), "targets"));
  return check(XGDMatrixSetFloatInfo(matrix.handle, "weight", set.weights.data(), set.rows()), "weights");
}

Result<void> configure(const Booster& booster, const BoosterOptions& o) {
  const std::pair<const char*, std::string> parameters[] = {{"objective", "reg:squarederror"},
                                                            {"base_score", "0"},
                                                            {"tree_method", "hist"},
                                                            {"max_bin", "256"},
                                                            {"nthread", "1"},
                                                            {"max_depth", std::to_string(o.depth)},
                                                            {"eta", fmt::format("{}", o.eta)},
                                                            {"subsample", fmt::format("{}", o.subsample)},
                                                            {"colsample_bynode", fmt::format("{}", o.columns)},
                                                            {"min_child_weight", fmt::format("{}", o.min_child_weight)},
                                                            {"reg_lambda", fmt::format("{}", o.lambda)},
                                                            {"seed", std::to_string(o.seed)},
                                                            {"verbosity", "0"}};
  for (const auto& [key, value] : parameters)
    JC_RETURN_IF_ERROR(check(XGBoosterSetParam(booster.handle, key, value.c_str()), key));
  return {};
}

// The derivatives of a loss that XGBoost does not have, where the trees so far leave each row: every row keeps the
// curvature of the square.
class OwnLoss {
 public:
  // `slope`: of a row of weight 1, by how far the trees are above it.
  using Slope = std::function<float(float)>;
  OwnLoss(const TrainingSet& set, Slope slope)
      : set_(set), slope_(std::move(slope)), slopes_(set.rows()), curvatures_(set.weights) {}

  Result<void> add_round(const Booster& booster, const Matrix& matrix) {
    constexpr int kMargin = 1;
    constexpr int kTraining = 1;
    bst_ulong count = 0;
    const float* found = nullptr;
    JC_RETURN_IF_ERROR(
        check(XGBoosterPredict(booster.handle, matrix.handle, kMargin, 0, kTraining, &count, &found), "residuals"));
    for (std::size_t i = 0; i < slopes_.size(); ++i) slopes_[i] = set_.weights[i] * slope_(found[i] - set_.targets[i]);
    return check(
        XGBoosterBoostOneIter(booster.handle, matrix.handle, slopes_.data(), curvatures_.data(), slopes_.size()),
        "round");
  }

 private:
  const TrainingSet& set_;
  Slope slope_;
  std::vector<float> slopes_, curvatures_;
};

OwnLoss::Slope slope_of(const BoosterOptions& options) {
  if (options.quantile != kNoQuantile) {
    return [share = static_cast<float>(options.quantile)](float above) { return above < 0.0F ? -share : 1.0F - share; };
  }
  if (options.huber == kSquared) return nullptr;
  const auto distance = static_cast<float>(options.huber);
  return [distance](float above) { return std::clamp(above, -distance, distance); };
}

}  // namespace

Result<Forest> fit_forest(const TrainingSet& set, std::span<const std::string_view> names,
                          const BoosterOptions& options) {
  if (set.rows() == 0) return invalid("no rows to fit");
  Matrix matrix;
  JC_RETURN_IF_ERROR(load(set, matrix));
  Booster booster;
  JC_RETURN_IF_ERROR(check(XGBoosterCreate(&matrix.handle, 1, &booster.handle), "booster"));
  JC_RETURN_IF_ERROR(configure(booster, options));
  std::optional<OwnLoss> own;
  if (OwnLoss::Slope slope = slope_of(options)) own.emplace(set, std::move(slope));
  for (int round = 0; round < options.rounds; ++round) {
    JC_RETURN_IF_ERROR(own ? own->add_round(booster, matrix)
                           : check(XGBoosterUpdateOneIter(booster.handle, round, matrix.handle), "round"));
  }
  bst_ulong length = 0;
  const char* json = nullptr;
  JC_RETURN_IF_ERROR(check(XGBoosterSaveModelToBuffer(booster.handle, R"({"format":"json"})", &length, &json), "save"));
  JC_ASSIGN_OR_RETURN(Forest forest, forest_from_xgboost(std::string_view(json, length)));
  forest.features.assign(names.begin(), names.end());
  return forest;
}

std::string booster_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  return fmt::format("XGBoost {}.{}.{}", major, minor, patch);
}

Result<std::vector<float>> evaluate_forest(const Forest& forest, const TrainingSet& set) {
  JC_ASSIGN_OR_RETURN(const ForestImage image, lay_out(forest));
  JC_ASSIGN_OR_RETURN(const ForestView view, ForestView::over(image.bytes()));
  std::vector<float> out(set.rows());
  view.predict(set.features, set.rows(), out);
  return out;
}

}  // namespace joulecast
