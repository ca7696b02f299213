// SPDX-License-Identifier: Apache-2.0
// Programs of torch.export for tests, as short as they can be: JSON by hand, and what is the same in all of them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace joulecast::torch {

// {"as_tensor": {"name": "x"}}
inline std::string tensor(std::string_view name) {
  return fmt::format(R"({{"as_tensor":{{"name":"{}"}}}})", name);
}

class ProgramWriter {
 public:
  // Extents: numbers, or names of symbols.
  ProgramWriter& value(std::string_view name, const std::vector<std::string>& extents, int dtype = 7) {
    std::string sizes;
    for (const std::string& extent : extents) {
      const bool number = extent[0] >= '0' && extent[0] <= '9';
      sizes += sizes.empty() ? "" : ",";
      sizes += number ? fmt::format(R"({{"as_int":{}}})", extent)
                      : fmt::format(R"({{"as_expr":{{"expr_str":"{}","hint":{{"as_int":2}}}}}})", extent);
    }
    add(tensors_, fmt::format(R"("{}":{{"dtype":{},"sizes":[{}]}})", name, dtype, sizes));
    return *this;
  }
  ProgramWriter& input(std::string_view name, const std::vector<std::string>& extents, int dtype = 7) {
    value(name, extents, dtype);
    add(inputs_, tensor(name));
    add(input_specs_, fmt::format(R"({{"user_input":{{"arg":{}}}}})", tensor(name)));
    return *this;
  }
  ProgramWriter& parameter(std::string_view name, std::string_view target, const std::vector<std::string>& extents) {
    value(name, extents);
    add(inputs_, tensor(name));
    add(input_specs_, fmt::format(R"({{"parameter":{{"arg":{{"name":"{}"}},"parameter_name":"{}"}}}})", name, target));
    return *this;
  }
  ProgramWriter& buffer(std::string_view name, std::string_view target, const std::vector<std::string>& extents,
                        int dtype = 7) {
    value(name, extents, dtype);
    add(inputs_, tensor(name));
    add(input_specs_,
        fmt::format(R"({{"buffer":{{"arg":{{"name":"{}"}},"buffer_name":"{}","persistent":true}}}})", name, target));
    return *this;
  }
  // `arguments`: "self", tensor("x"), "dim", R"({"as_int":1})", ...
  ProgramWriter& node(std::string_view target, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& outputs, std::string_view stack = "") {
    std::string inputs;
    for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
      add(inputs, fmt::format(R"({{"name":"{}","arg":{},"kind":1}})", arguments[i], arguments[i + 1]));
    }
    std::string results;
    for (const std::string& name : outputs) add(results, name[0] == '{' ? name : tensor(name));
    const std::string metadata = stack.empty() ? "" : fmt::format(R"("nn_module_stack":"{}")", stack);
    add(nodes_, fmt::format(R"({{"target":"{}","inputs":[{}],"outputs":[{}],"metadata":{{{}}}}})", target, inputs,
                            results, metadata));
    return *this;
  }
  ProgramWriter& output(std::string_view name) {
    add(outputs_, tensor(name));
    add(output_specs_, fmt::format(R"({{"user_output":{{"arg":{}}}}})", tensor(name)));
    return *this;
  }
  ProgramWriter& ranges(std::string_view json) {
    ranges_ = json;
    return *this;
  }

  [[nodiscard]] std::string graph() const {
    return fmt::format(R"({{"inputs":[{}],"outputs":[{}],"nodes":[{}],"tensor_values":{{{}}},)"
                       R"("sym_int_values":{{}},"sym_bool_values":{{}}}})",
                       inputs_, outputs_, nodes_, tensors_);
  }
  [[nodiscard]] std::string text() const {
    return fmt::format(R"({{"graph_module":{{"graph":{},"signature":{{"input_specs":[{}],"output_specs":[{}]}}}},)"
                       R"("schema_version":{{"major":8,"minor":20}},"range_constraints":{{{}}}}})",
                       graph(), input_specs_, output_specs_, ranges_);
  }

 private:
  static void add(std::string& list, const std::string& entry) {
    list += list.empty() ? "" : ",";
    list += entry;
  }

  std::string tensors_, inputs_, input_specs_, nodes_, outputs_, output_specs_, ranges_;
};

}  // namespace joulecast::torch
