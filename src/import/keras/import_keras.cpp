// SPDX-License-Identifier: Apache-2.0
#include "import/keras/import_keras.h"

#include <fmt/format.h>

#include "import/keras/hdf5.h"
#include "import/keras/layers.h"
#include "import/keras/model.h"
#include "import/tensorflow/import_tensorflow.h"
#include "import/zip.h"

namespace joulecast::keras {
namespace {

constexpr std::size_t kMaxConfig = std::size_t{256} << 20U;

}  // namespace

bool is_archive(std::string_view bytes) {
  if (!ZipArchive::recognises(bytes)) return false;
  const auto archive = ZipArchive::open(bytes);
  return archive && archive->find("config.json") != nullptr && archive->find("metadata.json") != nullptr;
}

Result<Graph> import_config(std::string_view text, std::string_view name) {
  // Initial values and schedules of training are of no interest, and most of the text.
  JC_ASSIGN_OR_RETURN(const JsonDocument document,
                      parse_json(text, {"kernel_initializer", "bias_initializer", "recurrent_initializer",
                                        "embeddings_initializer", "compile_config", "training_config"}));
  Model model;
  JC_RETURN_IF_ERROR(read_model(document.root(), model));
  model.graph.more_operators = layer_operator;
  return tensorflow::import_graph(model.graph, model.interface, name);
}

Result<Graph> import_archive(std::string_view bytes, std::string_view name) {
  JC_ASSIGN_OR_RETURN(const ZipArchive archive, ZipArchive::open(bytes));
  const ZipMember* config = archive.find("config.json");
  if (config == nullptr) return invalid("has no config.json: no model of Keras");
  JC_ASSIGN_OR_RETURN(const ZipText text, ZipArchive::read(*config, kMaxConfig));
  auto graph = import_config(text.view(), name);
  if (!graph) return tl::unexpected(std::move(graph).error().in("config.json"));
  return graph;
}

Result<Graph> import_hdf5(std::string_view bytes, std::string_view name) {
  JC_ASSIGN_OR_RETURN(const RootAttributes root, read_root_attribute(bytes, "model_config"));
  if (!root.text) {
    return unsupported(
        fmt::format("is an HDF5 file without a network (attributes: {}): weights alone. Save the whole "
                    "model with model.save(\"model.keras\")",
                    root.names.empty() ? "none" : root.names));
  }
  auto graph = import_config(*root.text, name);
  if (!graph) return tl::unexpected(std::move(graph).error().in("model_config"));
  return graph;
}

}  // namespace joulecast::keras
