// SPDX-License-Identifier: Apache-2.0
// TorchScript archives for tests, as short as they can be: pickles by hand, and what is the same in all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/zip_writer.h"

namespace joulecast::torchscript {

// Code that any pickle of a module with a convolution may stand beside.
inline constexpr std::string_view kOneConvolution = R"(class Net(Module):
  def forward(self, x: Tensor) -> Tensor:
    return torch.conv2d(x, self.weight, self.bias)
class Conv(Module):
  weight : Tensor
)";

// Pickles are made of these, one behind the other.
inline std::string pickled_text(std::string_view text) {
  std::string out = "X";
  for (int byte = 0; byte < 4; ++byte) out += static_cast<char>(text.size() >> (8 * byte));
  return out + std::string(text);
}
inline std::string pickled_int(std::int32_t value) {
  std::string out = "J";
  for (int byte = 0; byte < 4; ++byte) out += static_cast<char>(static_cast<std::uint32_t>(value) >> (8 * byte));
  return out;
}
inline std::string pickled_tensor(const std::vector<int>& extents, std::string_view storage = "FloatStorage",
                                  std::string_view key = "0") {
  std::string sizes = "(";
  std::string strides = "(";
  int elements = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    int stride = 1;
    for (std::size_t k = i + 1; k < extents.size(); ++k) stride *= extents[k];
    sizes += pickled_int(extents[i]);
    strides += pickled_int(stride);
    elements *= extents[i];
  }
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled_text("storage") + "ctorch\n" + std::string(storage) + "\n" +
         pickled_text(key) + pickled_text("cpu") + pickled_int(elements) + "tQ" + pickled_int(0) + sizes + "t" +
         strides + "t\x89" + "ccollections\nOrderedDict\n)RtR";
}
// `state`: names and values in turn.
inline std::string pickled_object(std::string_view name, std::string_view state) {
  return "c__torch__\n" + std::string(name) + "\n)\x81}(" + std::string(state) + "ub";
}
inline std::string pickle_of(std::string_view value) {
  return "\x80\x02" + std::string(value) + ".";
}

// A module __torch__.Net with a weight [4, 3, 3, 3], a bias [4] and a module `conv` of a class Conv with the same.
inline std::string net_pickle() {
  const std::string weights = pickled_text("weight") + pickled_tensor({4, 3, 3, 3}) + pickled_text("bias") +
                              pickled_tensor({4}, "FloatStorage", "1") + pickled_text("training") + "\x89";
  const std::string conv = pickled_text("weight") + pickled_tensor({4, 3, 3, 3}, "FloatStorage", "2");
  return pickle_of(pickled_object("Net", weights + pickled_text("conv") + pickled_object("Conv", conv)));
}

// Constants: c0 is 3, c1 the integers 2 and 5.
inline std::string constants_pickle() {
  return pickle_of(pickled_int(3) + pickled_tensor({2}, "LongStorage") + "\x86");
}

inline std::string archive_of(std::string_view code, std::string_view data = {}, std::string_view inputs = {}) {
  using namespace std::string_view_literals;
  ZipWriter writer;
  writer.add("net/data.pkl", data.empty() ? net_pickle() : std::string(data));
  writer.add("net/constants.pkl", constants_pickle());
  writer.add("net/constants/0", "\2\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0"sv);
  writer.add("net/code/__torch__.py", code);
  if (!inputs.empty()) writer.add("net/traced_inputs.pkl", inputs);
  return writer.finish();
}

// Of a traced module: what forward() was called with.
inline std::string inputs_pickle(const std::vector<std::vector<int>>& shapes,
                                 std::string_view storage = "FloatStorage") {
  std::string tensors = "(";
  for (const auto& shape : shapes) tensors += pickled_tensor(shape, storage);
  return pickle_of("}" + pickled_text("forward") + "]" + tensors + "es");
}

}  // namespace joulecast::torchscript
