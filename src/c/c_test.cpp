// SPDX-License-Identifier: Apache-2.0
#include "joulecast/c.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using Json = nlohmann::json;
const std::string kNetwork = JOULECAST_SOURCE_DIR "/examples/resnet50.onnx";
const std::string kPack = JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack";

// The text, given back.
std::string taken(char* text) {
  const std::unique_ptr<char, void (*)(char*)> owner(text, &joulecast_string_free);
  return text == nullptr ? std::string() : std::string(text);
}

class C : public testing::Test {
 protected:
  void SetUp() override {
    char* error = nullptr;
    predictor_.reset(joulecast_predictor_open(kPack.c_str(), nullptr, 0, &error));
    ASSERT_NE(predictor_, nullptr) << taken(error);
    model_.reset(joulecast_model_open(kNetwork.c_str(), nullptr, &error));
    ASSERT_NE(model_, nullptr) << taken(error);
  }

  [[nodiscard]] std::string predict(const char* request) const {
    char* error = nullptr;
    std::string text = taken(joulecast_predict(predictor_.get(), model_.get(), request, &error));
    EXPECT_EQ(error, nullptr) << taken(error);
    return text;
  }
  [[nodiscard]] Json failure_of(const char* request) const {
    char* error = nullptr;
    EXPECT_EQ(joulecast_predict(predictor_.get(), model_.get(), request, &error), nullptr);
    return Json::parse(taken(error));
  }

  std::unique_ptr<joulecast_predictor, void (*)(joulecast_predictor*)> predictor_{nullptr, &joulecast_predictor_close};
  std::unique_ptr<joulecast_model, void (*)(joulecast_model*)> model_{nullptr, &joulecast_model_close};
};

TEST_F(C, PredictsWhatTheProgramPredicts) {
  const Json answer = Json::parse(predict(R"({"gpu": ["a30", "h100"], "batch": [1, 32], "mode": "training"})"));
  EXPECT_EQ(answer.at("schema"), "joulecast.prediction/1");
  ASSERT_EQ(answer.at("predictions").size(), 4U);
  const Json& one = answer.at("predictions").at(1);
  EXPECT_EQ(one.at("gpu"), "h100-sxm5-80gb");
  EXPECT_LT(one.at("time_s").at("lo"), one.at("time_s").at("hi"));
}

TEST_F(C, ShapesAreListsByName) {
  const Json answer = Json::parse(predict(R"({"gpu": "a30", "shapes": {"input": [4, 3, 224, 224]}})"));
  EXPECT_EQ(answer.at("predictions").at(0).at("batch"), 4);
}

TEST_F(C, WhatIsWrongIsSaidByKey) {
  EXPECT_EQ(failure_of(R"({"gpus": "a30"})").at("error").at("message"), "the request has no 'gpus'");
  EXPECT_EQ(failure_of(R"({"top": -1})").at("error").at("message"), "'top' of the request: is no whole number");
  EXPECT_EQ(failure_of(R"({"host": true})").at("error").at("message"), "'host' of the request: is no string or number");
  EXPECT_EQ(failure_of("[1]").at("error").at("message"), "the request is no JSON object");
  EXPECT_EQ(failure_of(R"({"mode": "both"})").at("exit_code"), 2);
  EXPECT_EQ(failure_of(R"({"gpu": "no such thing"})").at("error").at("code"), "not-found");
}

TEST_F(C, InspectsAndListsGpus) {
  char* error = nullptr;
  const Json network = Json::parse(taken(joulecast_inspect(model_.get(), R"({"batch": 8})", &error)));
  EXPECT_EQ(network.at("schema"), "joulecast.inspection/1");
  EXPECT_EQ(network.at("outputs").at(0).at("shape"), Json::parse("[8, 1000]"));
  const Json inputs = Json::parse(taken(joulecast_inputs(model_.get(), &error)));
  EXPECT_EQ(inputs, Json::parse(R"({"inputs": [{"name": "input", "dimensions": ["batch", 3, 224, 224]}]})"));
  const Json gpus = Json::parse(taken(joulecast_gpus(predictor_.get(), &error)));
  EXPECT_EQ(gpus.at("schema"), "joulecast.gpus/1");
}

TEST(CFailures, AreToldAndMayBeIgnored) {
  char* error = nullptr;
  EXPECT_EQ(joulecast_model_open("/nowhere/net.onnx", nullptr, &error), nullptr);
  EXPECT_EQ(Json::parse(taken(error)).at("error").at("code"), "not-found");
  EXPECT_EQ(joulecast_model_open("/nowhere/net.onnx", nullptr, nullptr), nullptr);
  EXPECT_EQ(joulecast_predict(nullptr, nullptr, nullptr, nullptr), nullptr);
  joulecast_string_free(nullptr);
  joulecast_model_close(nullptr);
}

TEST(CMeter, AWindowIsToldAsTheProgramTellsACommand) {
  char* error = nullptr;
  joulecast_meter* meter = joulecast_meter_open(R"({"command": ["train.py"]})", &error);
  ASSERT_NE(meter, nullptr) << taken(error);
  joulecast_window* window = joulecast_window_begin(meter, "epoch", &error);
  ASSERT_NE(window, nullptr) << taken(error);
  EXPECT_EQ(joulecast_window_result(window, &error), nullptr);
  EXPECT_NE(taken(error).find("has not ended yet"), std::string::npos);
  EXPECT_EQ(joulecast_window_end(window, &error), 0);
  EXPECT_EQ(joulecast_meter_close(meter, &error), 0);
  const Json told = Json::parse(taken(joulecast_window_result(window, &error)));
  EXPECT_EQ(told.at("schema"), "joulecast.measurement/1");
  EXPECT_GT(told.at("time_s").at("mean"), 0);
  EXPECT_EQ(told.at("run").at("command"), Json::array({"train.py"}));
  joulecast_window_close(window);
}

TEST(CMeter, FailuresAreTold) {
  char* error = nullptr;
  EXPECT_EQ(joulecast_meter_open(R"({"interval_ms": -1})", &error), nullptr);
  EXPECT_NE(taken(error).find("'interval_ms' of the request is no positive number"), std::string::npos);
  EXPECT_EQ(joulecast_meter_open(R"({"output": "/nowhere/run.jcrun"})", &error), nullptr);
  EXPECT_NE(taken(error).find("/nowhere/run.jcrun"), std::string::npos);
  EXPECT_EQ(joulecast_window_begin(nullptr, "epoch", nullptr), nullptr);
  EXPECT_EQ(joulecast_window_end(nullptr, nullptr), -1);
  EXPECT_EQ(joulecast_meter_close(nullptr, nullptr), 0);
  joulecast_window_close(nullptr);
}

TEST_F(C, ThreadsShareHandles) {
  const std::string alone = predict(R"({"gpu": "all"})");
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (std::string& one : found) {
    threads.emplace_back([this, &one] { one = predict(R"({"gpu": "all"})"); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : found) EXPECT_EQ(one, alone);
}

TEST(CVersion, IsThatOfTheHeader) {
  EXPECT_EQ(joulecast_abi(), JOULECAST_ABI);
}

}  // namespace
