// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>

#include "import/format.h"
#include "import/huggingface/import_config.h"
#include "import/keras/import_keras.h"
#include "import/onnx/import_bytes.h"
#include "import/paddle/import_paddle.h"
#include "import/tensorflow/import_tensorflow.h"
#include "import/tflite/import_tflite.h"
#include "import/torch/import_bytes.h"
#include "import/torchscript/import_torchscript.h"

namespace joulecast {
namespace {

bool is_text_form(std::string_view bytes) {
  return bytes.starts_with("graph ");
}

// Of a file by its own name, of one that is a folder's model by the folder's.
std::string name_of(const std::string& path) {
  const std::filesystem::path file = std::filesystem::absolute(path).lexically_normal();
  const bool of_folder = std::any_of(formats().begin(), formats().end(), [&](const Format& format) {
    return !format.in_folder.empty() && file.filename() == format.in_folder;
  });
  const std::string folder = of_folder ? file.parent_path().filename().string() : "";
  return folder.empty() ? file.stem().string() : folder;
}

Result<Graph> read_text_form(std::string_view bytes, const std::string& /*path*/) {
  return parse_graph(bytes);
}

Result<Graph> read_config(std::string_view bytes, const std::string& path) {
  return huggingface::import_config(bytes, name_of(path));
}

// Protobuf has no signature: what no other format recognises and is no text may be ONNX, and the reader says if not.
bool may_be_onnx(std::string_view bytes) {
  return foreign_format(bytes).empty() && !is_printable(bytes);
}

Result<Graph> read_onnx(std::string_view bytes, const std::string& path) {
  return onnx::import_bytes(std::as_bytes(std::span(bytes)), name_of(path));
}

Result<Graph> read_torch(std::string_view bytes, const std::string& path) {
  return torch::import_bytes(bytes, name_of(path));
}

Result<Graph> read_torchscript_with(std::string_view bytes, const std::string& path, const InputShapes& shapes) {
  return torchscript::import_bytes(bytes, name_of(path), shapes);
}

Result<Graph> read_torchscript(std::string_view bytes, const std::string& path) {
  return read_torchscript_with(bytes, path, {});
}

Result<Graph> read_saved_model(std::string_view bytes, const std::string& path) {
  return tensorflow::import_saved_model(bytes, name_of(path));
}

Result<Graph> read_graph_def(std::string_view bytes, const std::string& path) {
  return tensorflow::import_graph_def(bytes, name_of(path));
}

Result<Graph> read_tflite(std::string_view bytes, const std::string& path) {
  return tflite::import_tflite(bytes, name_of(path));
}

Result<Graph> read_keras_archive(std::string_view bytes, const std::string& path) {
  return keras::import_archive(bytes, name_of(path));
}

Result<Graph> read_keras_hdf5(std::string_view bytes, const std::string& path) {
  return keras::import_hdf5(bytes, name_of(path));
}

Result<Graph> read_pdmodel(std::string_view bytes, const std::string& path) {
  return paddle::import_pdmodel(bytes, name_of(path));
}

Result<Graph> read_paddle_json(std::string_view bytes, const std::string& path) {
  return paddle::import_json(bytes, name_of(path));
}

// ONNX comes last.
constexpr std::array kFormats{
    Format{"joulecast", "the text form of graphs (.jcg)", "", is_text_form, read_text_form},
    Format{"tensorflow", "TensorFlow SavedModel (saved_model.pb)", "saved_model.pb", tensorflow::is_saved_model,
           read_saved_model},
    Format{"tensorflow", "frozen GraphDef (.pb)", "", tensorflow::is_graph_def, read_graph_def},
    Format{"pytorch", "TorchScript (.pt)", "", torchscript::recognises, read_torchscript, read_torchscript_with},
    Format{"tensorflow", "TensorFlow Lite (.tflite)", "", tflite::recognises, read_tflite},
    Format{"keras", "Keras (.keras)", "", keras::is_archive, read_keras_archive},
    Format{"keras", "Keras (.h5)", "", keras::is_hdf5, read_keras_hdf5},
    Format{"pytorch", "torch.export (.pt2)", "", torch::recognises, read_torch},
    Format{"paddle", "Paddle (.pdmodel)", "inference.pdmodel", paddle::is_pdmodel, read_pdmodel},
    Format{"paddle", "Paddle 3 (.json)", "inference.json", paddle::is_json, read_paddle_json},
    Format{"huggingface", "transformers' config.json", "config.json", huggingface::is_config, read_config},
    Format{"onnx", "ONNX (.onnx)", "", may_be_onnx, read_onnx},
};

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

std::string supported_formats() {
  std::string out = "supported are ";
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (i > 0) out += i + 1 == kFormats.size() ? " and " : ", ";
    out += kFormats[i].files;
  }
  return out;
}

}  // namespace joulecast
