// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/import_paddle.h"

#include <fmt/format.h>

#include "import/paddle/importer.h"
#include "import/paddle/pir.h"
#include "import/paddle/program_desc.h"

namespace joulecast::paddle {
namespace {

constexpr std::size_t kMaxProgram = std::size_t{256} << 20U;

Result<Graph> graph_of(const Program& program, std::string_view name) {
  JC_ASSIGN_OR_RETURN(Graph graph, Importer(program).run(name));
  JC_RETURN_IF_ERROR(validate(graph));
  return graph;
}

Result<void> check_size(std::string_view bytes) {
  if (bytes.size() <= kMaxProgram) return {};
  return unsupported(fmt::format("is longer than {} MiB: a program without parameters is not", kMaxProgram >> 20U));
}

}  // namespace

bool is_pdmodel(std::string_view bytes) {
  return is_program_desc(bytes);
}
bool is_json(std::string_view bytes) {
  return is_pir(bytes);
}

Result<Graph> import_pdmodel(std::string_view bytes, std::string_view name) {
  JC_RETURN_IF_ERROR(check_size(bytes));
  JC_ASSIGN_OR_RETURN(const Program program, read_program_desc(bytes));
  return graph_of(program, name);
}

Result<Graph> import_json(std::string_view bytes, std::string_view name) {
  JC_RETURN_IF_ERROR(check_size(bytes));
  JC_ASSIGN_OR_RETURN(const JsonDocument document, parse_pir(bytes));
  JC_ASSIGN_OR_RETURN(const Program program, read_pir(document));
  return graph_of(program, name);
}

}  // namespace joulecast::paddle
