// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/inspection.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kNameWidth = 40;
constexpr auto kRight = Table::Align::kRight;

std::string_view name(ValueKind kind) {
  switch (kind) {
    case ValueKind::kInput:
      return "input";
    case ValueKind::kParameter:
      return "weight";
    case ValueKind::kConstant:
      return "constant";
    case ValueKind::kComputed:
      break;
  }
  return "computed";
}

std::string bytes_text(Bytes bytes) {
  return with_prefix(bytes.value(), "B");
}

std::string tensor_line(std::string_view what, const NamedTensor& tensor) {
  return fmt::format("  {:<11} {} {} {}\n", what, shortened(printable(tensor.name), kNameWidth),
                     joulecast::name(tensor.type.element), text(tensor.type.shape));
}

std::string head(const Inspection& in) {
  const Cost& cost = in.total.cost;
  const auto unknown = std::count_if(in.kinds.begin(), in.kinds.end(), [](const KindTotal& k) { return !k.known; });
  std::string out = printable(in.model) + "\n";
  for (const NamedTensor& input : in.inputs) out += tensor_line("input", input);
  for (const NamedTensor& output : in.outputs) out += tensor_line("output", output);
  out += fmt::format("  operators   {} of {} kinds, {} of them unknown\n", in.total.count, in.kinds.size(), unknown);
  out += fmt::format("  parameters  {} ({})\n", with_prefix(static_cast<double>(cost.parameter_count), ""),
                     bytes_text(cost.parameters));
  out += fmt::format("  forward     {}, {} read and written\n", with_prefix(cost.forward_flops.value(), "FLOP"),
                     bytes_text(forward_bytes(cost)));
  out += fmt::format("  backward    {}, {} read and written\n", with_prefix(cost.backward_flops.value(), "FLOP"),
                     bytes_text(cost.backward_read + cost.backward_written));
  return out;
}

std::string kinds_text(const Inspection& in) {
  Table table({{"operator", Table::Align::kLeft, 22},
               {"count", kRight},
               {"FLOP", kRight},
               {"share", kRight},
               {"bytes", kRight},
               {"share", kRight},
               {"parameters", kRight}});
  for (const KindTotal& kind : in.kinds) {
    const Cost& cost = kind.cost;
    table.add({printable(kind.kind), fmt::to_string(kind.count),
               kind.known ? with_prefix(cost.forward_flops.value(), "") : "unknown",
               kind.known ? share(cost.forward_flops.value(), in.total.cost.forward_flops.value()) : "unknown",
               bytes_text(forward_bytes(cost)),
               share(forward_bytes(cost).value(), forward_bytes(in.total.cost).value()),
               with_prefix(static_cast<double>(cost.parameter_count), "")});
  }
  return table.text(2);
}

std::string unknown_text(const Inspection& in) {
  if (std::all_of(in.kinds.begin(), in.kinds.end(), [](const KindTotal& k) { return k.known; })) return {};
  std::string out = "\nUnknown operators: counted by their bytes only\n";
  for (const KindTotal& kind : in.kinds) {
    if (kind.known) continue;
    out += fmt::format("  {} ({}): {} of the bytes\n", shortened(printable(kind.kind), kNameWidth), kind.count,
                       share(forward_bytes(kind.cost).value(), forward_bytes(in.total.cost).value()));
  }
  return out;
}

std::string largest_text(const Inspection& in) {
  if (in.largest.empty()) return {};
  Table table({{"largest tensors", Table::Align::kLeft, 34},
               {"", Table::Align::kLeft, 8},
               {"type"},
               {"shape", Table::Align::kLeft, 18},
               {"bytes", kRight}});
  for (const NamedTensor& tensor : in.largest) {
    table.add({printable(tensor.name), std::string(name(tensor.kind)),
               std::string(joulecast::name(tensor.type.element)), text(tensor.type.shape),
               bytes_text(tensor.type.bytes())});
  }
  return "\n" + table.text(2);
}

std::string notes_text(const Inspection& in) {
  std::string out;
  const auto add = [&](const std::string& text) { out += "  " + wrapped(printable(text), kWidth, 4, 2) + "\n"; };
  for (const Assumption& assumption : in.assumed) add(assumption.text);
  for (const std::string& note : in.notes) add(note);
  return out.empty() ? out : "\nNotes\n" + out;
}

Json shape_json(const Shape& shape) {
  Json out = Json::array();
  for (const std::int64_t extent : shape) out.push_back(extent);
  return out;
}

Json tensor_json(const NamedTensor& tensor) {
  return {{"name", tensor.name},
          {"kind", name(tensor.kind)},
          {"element", joulecast::name(tensor.type.element)},
          {"shape", shape_json(tensor.type.shape)},
          {"bytes", json_number(tensor.type.bytes().value())}};
}

// Nothing is known of what an unknown operator computes: null, not 0.
Json cost_json(const KindTotal& kind) {
  const Cost& cost = kind.cost;
  return {{"count", kind.count},
          {"flops", kind.known ? json_number(cost.forward_flops.value()) : Json()},
          {"bytes", json_number(forward_bytes(cost).value())},
          {"backward_flops", kind.known ? json_number(cost.backward_flops.value()) : Json()},
          {"backward_bytes", json_number((cost.backward_read + cost.backward_written).value())},
          {"parameters", cost.parameter_count},
          {"parameter_bytes", json_number(cost.parameters.value())}};
}

Json kind_json(const KindTotal& kind, const Inspection& in) {
  Json out{{"operator", kind.kind}, {"known", kind.known}};
  out.update(cost_json(kind));
  const double bytes = forward_bytes(in.total.cost).value();
  out["bytes_share"] = bytes > 0.0 ? Json(forward_bytes(kind.cost).value() / bytes) : Json();
  return out;
}

Json assumption_json(const Assumption& a) {
  return {
      {"symbol", a.dimension.symbol}, {"input", a.dimension.input}, {"axis", a.dimension.axis}, {"extent", a.extent}};
}

}  // namespace

std::string inspection_text(const Inspection& in) {
  return head(in) + "\n" + kinds_text(in) + unknown_text(in) + largest_text(in) + notes_text(in);
}

Json inspection_json(const Inspection& in) {
  Json out{{"schema", "joulecast.inspection/1"}, {"model", in.model}, {"graph", in.graph}};
  const auto list = [&](const char* key, const auto& entries, const auto& make) {
    out[key] = Json::array();
    for (const auto& entry : entries) out[key].push_back(make(entry));
  };
  list("inputs", in.inputs, tensor_json);
  list("outputs", in.outputs, tensor_json);
  list("assumed", in.assumed, assumption_json);
  out["total"] = cost_json(in.total);
  list("operators", in.kinds, [&](const KindTotal& kind) { return kind_json(kind, in); });
  out["unknown_operators"] = Json::array();
  for (const KindTotal& kind : in.kinds) {
    if (!kind.known) out["unknown_operators"].push_back(kind.kind);
  }
  list("largest_tensors", in.largest, tensor_json);
  out["notes"] = in.notes;
  return out;
}

std::string inspection_csv(const Inspection& in) {
  std::string out =
      "operator,known,count,flops,bytes,backward_flops,backward_bytes,parameters,parameter_bytes,model\r\n";
  for (const KindTotal& kind : in.kinds) {
    const Json cost = cost_json(kind);
    out += csv_field(kind.kind) + (kind.known ? ",true" : ",false");
    for (const auto& value : cost) out += "," + (value.is_null() ? std::string() : value.dump());
    out += "," + csv_field(in.model) + "\r\n";
  }
  return out;
}

}  // namespace joulecast::cli
