// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/import_tflite.h"

#include "import/tensorflow/import_tensorflow.h"
#include "import/tflite/convert.h"

namespace joulecast::tflite {

bool recognises(std::string_view bytes) {
  return bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3";
}

Result<Graph> import_tflite(std::string_view bytes, std::string_view name) {
  if (!recognises(bytes)) return invalid("is no TensorFlow Lite model");
  const FlatBuffer file(bytes);
  JC_ASSIGN_OR_RETURN(const ModelView model, read_model(file, bytes));
  Converted converted;
  JC_RETURN_IF_ERROR(ModelConverter(model, converted).run());
  JC_RETURN_IF_ERROR(file.status());
  return tensorflow::import_graph(converted.graph, converted.interface, name);
}

}  // namespace joulecast::tflite
