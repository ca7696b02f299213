// SPDX-License-Identifier: Apache-2.0
#include "reference/reference_file.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace joulecast {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Counts torch_counts(const Json& flops) {
  static const std::map<std::string, std::string> kKinds{{"aten.convolution", "conv"},
                                                         {"aten.addmm", "matrix"},
                                                         {"aten.mm", "matrix"},
                                                         {"aten.bmm", "matrix"},
                                                         {"aten.baddbmm", "matrix"}};
  Counts out;
  for (const auto& [name, value] : flops.items()) {
    const auto kind = kKinds.find(name);
    out[kind == kKinds.end() ? name : kind->second] += value.get<double>();
  }
  return out;
}

// A multiply-add is 1 there and 2 here; normalisation counts elements in both. Resizing and pooling that fvcore counts
// depends on which of torch's functions was called, not on what is computed, and is left out.
Counts fvcore_counts(const Json& flops) {
  static const std::map<std::string, std::string> kProducts{
      {"conv", "conv"},    {"linear", "matrix"}, {"matmul", "matrix"},
      {"addmm", "matrix"}, {"bmm", "matrix"},    {"einsum", "matrix"},
  };
  Counts out;
  for (const auto& [name, value] : flops.items()) {
    if (const auto kind = kProducts.find(name); kind != kProducts.end()) out[kind->second] += 2.0 * value.get<double>();
    if (name.ends_with("_norm")) out[name] += value.get<double>();
  }
  return out;
}

std::vector<Shape> shapes(const Json& list) {
  std::vector<Shape> out;
  for (const Json& extents : list) {
    Shape shape;
    for (const Json& extent : extents) shape.push_back(extent.get<std::int64_t>());
    out.push_back(shape);
  }
  return out;
}

bool has(const Json& json, const char* key) {
  return json.contains(key) && !json[key].is_null();
}

// fvcore counts no normalisation that the exporter folded away.
void drop_folded(const Json& json, Counts& fvcore) {
  if (json.value("batch_norm_nodes", 0) != json.value("batch_norm_modules", 0)) fvcore.erase("batch_norm");
}

void read_fvcore(const Json& json, ReferenceFile& out) {
  if (!has(json, "fvcore") || !json["fvcore"].contains("flops_by_operator")) return;
  out.fvcore = fvcore_counts(json["fvcore"]["flops_by_operator"]);
  drop_folded(json, *out.fvcore);
  if (!json["fvcore"].contains("unsupported")) return;
  out.spelled_out_attention = !json["fvcore"]["unsupported"].contains("aten::scaled_dot_product_attention");
}

}  // namespace

std::optional<ReferenceFile> read_reference(const fs::path& network) {
  const std::string name = network.stem().string() + ".ref.json";
  const fs::path beside = network.parent_path() / name;
  std::ifstream file(fs::exists(beside) ? beside : network.parent_path() / "reference" / name);
  const Json json = file ? Json::parse(file) : Json();
  if (!json.is_object()) return std::nullopt;
  ReferenceFile out;
  for (const auto& [symbol, extent] : json["sizes"].items()) out.sizes[symbol] = extent;
  if (has(json, "torch_flops")) {
    for (const auto& [batch, flops] : json["torch_flops"].items()) out.torch[std::stoll(batch)] = torch_counts(flops);
  }
  if (has(json, "output_shapes")) {
    for (const auto& [batch, list] : json["output_shapes"].items()) out.outputs[std::stoll(batch)] = shapes(list);
  }
  read_fvcore(json, out);
  if (has(json, "torch_params")) out.parameters = json["torch_params"].get<double>();
  return out;
}

}  // namespace joulecast
