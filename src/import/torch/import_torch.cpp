// SPDX-License-Identifier: Apache-2.0
// Which member of an archive is the program. torch 2.8 and later write models/NAME.json in a folder of the archive's
// own name; before it was serialized_exported_program.json. Weights are members of their own and never looked at.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "import/json.h"
#include "import/text.h"
#include "import/torch/import_bytes.h"
#include "import/torch/importer.h"
#include "import/zip.h"

namespace joulecast::torch {
namespace {

constexpr std::size_t kMaxProgram = std::size_t{256} << 20U;
constexpr std::string_view kFirstLayout = "serialized_exported_program.json";

bool is_model(std::string_view name) {
  const std::size_t at = name.find("models/");
  return at != name.npos && (at == 0 || name[at - 1] == '/') && name.ends_with(".json");
}

const ZipMember* find_program(const ZipArchive& archive) {
  if (const ZipMember* member = archive.find_ending(kFirstLayout)) return member;
  const ZipMember* only = archive.find_ending("/models/model.json");
  if (only != nullptr) return only;
  const auto members = archive.members();
  const auto it = std::find_if(members.begin(), members.end(), [](const ZipMember& m) { return is_model(m.name); });
  return it == members.end() ? nullptr : &*it;
}

// What else torch.save and others put into zip archives.
tl::unexpected<Error> no_program(const ZipArchive& archive) {
  constexpr std::string_view kInstead =
      "export the network with torch.export.save(torch.export.export(model, args), \"net.pt2\")";
  if (archive.find_ending("data.pkl") != nullptr) {
    return unsupported(fmt::format(
        "is a pickle of torch.save: weights or a module, and no graph that can be read without running it; {}, or "
        "torch.jit.save(torch.jit.trace(model, args), \"net.pt\")",
        kInstead));
  }
  return unsupported("is a zip archive without a program of torch.export or anything else that is read");
}

}  // namespace

bool recognises(std::string_view bytes) {
  return ZipArchive::recognises(bytes);
}

Result<Graph> import_program(std::string_view json, std::string_view name) {
  JC_ASSIGN_OR_RETURN(const JsonDocument document,
                      parse_json(json, {"stack_trace", "torch_fn", "source_fn_stack", "strides", "device",
                                        "module_call_graph", "storage_offset"}));
  JC_ASSIGN_OR_RETURN(Graph graph, Importer(document.root()).run(name));
  JC_RETURN_IF_ERROR(validate(graph));
  return graph;
}

Result<Graph> import_bytes(std::string_view bytes, std::string_view name) {
  JC_ASSIGN_OR_RETURN(const ZipArchive archive, ZipArchive::open(bytes));
  const ZipMember* member = find_program(archive);
  if (member == nullptr) return no_program(archive);
  JC_ASSIGN_OR_RETURN(const ZipText text, ZipArchive::read(*member, kMaxProgram));
  auto graph = import_program(text.view(), name);
  if (!graph) return tl::unexpected(std::move(graph).error().in(printable(member->name)));
  return graph;
}
}  // namespace joulecast::torch
