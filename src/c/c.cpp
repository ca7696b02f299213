// SPDX-License-Identifier: Apache-2.0
#include "joulecast/c.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "c/guarded.h"
#include "c/request.h"
#include "cli/gpu_text.h"
#include "cli/options.h"
#include "cli/version.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

struct joulecast_model {
  std::string path;
  joulecast::Graph as_written, network;  // the network is simplified
};

struct joulecast_predictor {
  joulecast::Catalogue catalogue;
  joulecast::Predictor predictor;
};

namespace {

using joulecast::c::copied;
using joulecast::c::guarded;
using joulecast::c::no_handle;
using joulecast::cli::Failure;

tl::expected<joulecast_model*, Failure> open_model(const std::string& path, const char* request) {
  JC_ASSIGN_OR_FAIL(const auto asked, joulecast::c::parse_model_request(request));
  JC_ASSIGN_OR_FAIL(joulecast::Graph graph, joulecast::import_model(path, asked.framework, asked.shapes));
  joulecast::Graph network = joulecast::simplify(graph);
  return new joulecast_model{path, std::move(graph), std::move(network)};
}

tl::expected<joulecast_predictor*, Failure> open_predictor(const char* pack,
                                                           const std::vector<std::string>& gpu_files) {
  JC_ASSIGN_OR_FAIL(joulecast::Catalogue catalogue, joulecast::cli::load_catalogue(gpu_files));
  JC_ASSIGN_OR_FAIL(const std::string path,
                    pack == nullptr ? joulecast::shipped_pack_path() : joulecast::Result<std::string>(pack));
  JC_ASSIGN_OR_FAIL(joulecast::Predictor predictor, joulecast::Predictor::open(path));
  return new joulecast_predictor{std::move(catalogue), std::move(predictor)};
}

tl::expected<char*, Failure> predict(const joulecast_predictor& by, const joulecast_model& model, const char* request) {
  JC_ASSIGN_OR_FAIL(const auto asked, joulecast::c::parse_prediction_request(request));
  JC_ASSIGN_OR_FAIL(const auto report,
                    joulecast::cli::predictions(asked, model.path, model.network, {by.catalogue, by.predictor}));
  return copied(joulecast::cli::json_text(report.json()));
}

tl::expected<char*, Failure> recommend(const joulecast_predictor& by, const joulecast_model& model,
                                       const char* request) {
  JC_ASSIGN_OR_FAIL(const auto asked, joulecast::c::parse_recommendation_request(request));
  JC_ASSIGN_OR_FAIL(const auto found,
                    joulecast::cli::recommended(asked, model.path, model.network, {by.catalogue, by.predictor}));
  return copied(found.json());
}

tl::expected<char*, Failure> inspect(const joulecast_model& model, const char* request) {
  JC_ASSIGN_OR_FAIL(const auto asked, joulecast::c::parse_inspection_request(request));
  JC_ASSIGN_OR_FAIL(const auto inspection, joulecast::cli::inspected(asked, model.path, model.as_written));
  return copied(joulecast::cli::json_text(joulecast::cli::inspection_json(inspection)));
}

std::string inputs(const joulecast::Graph& network) {
  using joulecast::cli::Json;
  Json list = Json::array();
  for (const joulecast::GraphInput& input : network.inputs) {
    Json dimensions = Json::array();
    for (const joulecast::Dimension& one : input.dimensions) {
      dimensions.push_back(one.extent ? Json(*one.extent) : Json(one.symbol));
    }
    list.push_back({{"name", network.value(input.value).name}, {"dimensions", std::move(dimensions)}});
  }
  return joulecast::cli::json_text({{"inputs", std::move(list)}});
}

}  // namespace

int joulecast_abi(void) {
  return JOULECAST_ABI;
}

const char* joulecast_version(void) {
  return joulecast::cli::version().data();
}

joulecast_model* joulecast_model_open(const char* path, const char* request, char** error) {
  return guarded(error, [&]() -> tl::expected<joulecast_model*, Failure> {
    if (path == nullptr) return joulecast::cli::usage("the path of a model is NULL");
    return open_model(path, request);
  });
}

void joulecast_model_close(joulecast_model* model) {
  delete model;
}

joulecast_predictor* joulecast_predictor_open(const char* pack, const char* const* gpu_files, size_t gpu_file_count,
                                              char** error) {
  return guarded(error, [&]() -> tl::expected<joulecast_predictor*, Failure> {
    std::vector<std::string> files;
    for (std::size_t i = 0; i < gpu_file_count; ++i) {
      if (gpu_files == nullptr || gpu_files[i] == nullptr)
        return joulecast::cli::usage(fmt::format("GPU file {} is NULL", i));
      files.emplace_back(gpu_files[i]);
    }
    return open_predictor(pack, files);
  });
}

void joulecast_predictor_close(joulecast_predictor* predictor) {
  delete predictor;
}

char* joulecast_predict(const joulecast_predictor* predictor, const joulecast_model* model, const char* request,
                        char** error) {
  return guarded(error, [&]() -> tl::expected<char*, Failure> {
    if (predictor == nullptr || model == nullptr) return no_handle();
    return predict(*predictor, *model, request);
  });
}

char* joulecast_recommend(const joulecast_predictor* predictor, const joulecast_model* model, const char* request,
                          char** error) {
  return guarded(error, [&]() -> tl::expected<char*, Failure> {
    if (predictor == nullptr || model == nullptr) return no_handle();
    return recommend(*predictor, *model, request);
  });
}

char* joulecast_inspect(const joulecast_model* model, const char* request, char** error) {
  return guarded(error, [&]() -> tl::expected<char*, Failure> {
    if (model == nullptr) return no_handle();
    return inspect(*model, request);
  });
}

char* joulecast_inputs(const joulecast_model* model, char** error) {
  return guarded(error, [&]() -> tl::expected<char*, Failure> {
    if (model == nullptr) return no_handle();
    return copied(inputs(model->network));
  });
}

char* joulecast_gpus(const joulecast_predictor* predictor, char** error) {
  return guarded(error, [&]() -> tl::expected<char*, Failure> {
    if (predictor == nullptr) return no_handle();
    std::vector<const joulecast::Gpu*> all;
    for (const joulecast::Gpu& gpu : predictor->catalogue.all()) all.push_back(&gpu);
    return copied(joulecast::cli::gpus_json(all));
  });
}

void joulecast_string_free(char* string) {
  std::free(string);
}
