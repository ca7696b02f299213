// SPDX-License-Identifier: Apache-2.0
// PyTorch's modules as operators (torch.nn documentation; StochasticDepth and LayerNorm2d are torchvision's).
#include <fmt/format.h>

#include <array>

#include "dataset/module_repr.h"

namespace joulecast {
namespace {

// The arguments of one module, with PyTorch's defaults for those that it does not print. Remembers what was wrong.
class Arguments {
 public:
  explicit Arguments(const ModuleRepr& module) : module_(module) {}

  // Positional argument i.
  std::int64_t extent(std::size_t i) {
    if (i >= module_.arguments.size() || !module_.arguments[i].name.empty()) {
      complain(fmt::format("argument {}", i));
      return 1;
    }
    return checked(module_.arguments[i], 0, 1);
  }
  std::int64_t integer(std::string_view name, std::int64_t absent, std::int64_t least) {
    const ReprArgument* argument = module_.find(name);
    return argument == nullptr ? absent : checked(*argument, 0, least);
  }
  double number(std::string_view name, double absent) {
    const ReprArgument* argument = module_.find(name);
    if (argument == nullptr) return absent;
    if (argument->numbers.size() != 1) complain(name);
    return argument->numbers.empty() ? absent : argument->numbers.front();
  }
  bool flag(std::string_view name, bool absent) { return number(name, absent ? 1.0 : 0.0) != 0.0; }
  std::string word(std::string_view name, std::string_view absent) {
    const ReprArgument* argument = module_.find(name);
    return argument == nullptr ? std::string(absent) : argument->word;
  }
  // One entry per spatial axis: a single number stands for all.
  Extents spatial(std::string_view name, std::size_t rank, std::int64_t absent, std::int64_t least) {
    const ReprArgument* argument = module_.find(name);
    if (argument == nullptr) return Extents(rank, absent);
    if (argument->numbers.size() != 1 && argument->numbers.size() != rank) complain(name);
    Extents extents;
    for (std::size_t i = 0; i < rank; ++i) {
      extents.push_back(checked(*argument, argument->numbers.size() == 1 ? 0 : i, least));
    }
    return extents;
  }
  [[nodiscard]] Result<void> status() const {
    return complaint_.empty() ? Result<void>()
                              : invalid(fmt::format("'{}' makes no sense in {}", complaint_, module_.text()));
  }

 private:
  std::int64_t checked(const ReprArgument& argument, std::size_t i, std::int64_t least) {
    const double value = i < argument.numbers.size() ? argument.numbers[i] : -1.0;
    if (value < static_cast<double>(least) || value > 1e9 ||
        value != static_cast<double>(static_cast<std::int64_t>(value))) {
      complain(argument.name.empty() ? fmt::format("argument {}", i) : argument.name);
      return least;
    }
    return static_cast<std::int64_t>(value);
  }
  void complain(std::string_view name) {
    if (complaint_.empty()) complaint_ = name;
  }

  const ModuleRepr& module_;
  std::string complaint_;
};

struct Context {
  const ModuleRepr& module;
  Arguments& arguments;
  const Shape& input;
  ElementType element;
};

tl::unexpected<Error> mismatch(const Context& context) {
  return invalid(fmt::format("{} applied to an input of shape {}", context.module.text(), text(context.input)));
}

Result<void> require_rank(const Context& context, std::size_t rank) {
  return context.input.size() == rank ? Result<void>() : mismatch(context);
}

// Conv1d, Conv2d, Conv3d and the transposed ones: the digit in the name is the number of spatial axes.
std::size_t spatial_rank(const ModuleRepr& module) {
  return module.name.find('1') != std::string::npos ? 1 : module.name.find('3') != std::string::npos ? 3 : 2;
}

Result<Graph> conv(const Context& context) {
  Arguments& arguments = context.arguments;
  const std::size_t rank = spatial_rank(context.module);
  JC_RETURN_IF_ERROR(require_rank(context, rank + 2));
  if (arguments.word("padding_mode", "zeros") != "zeros") return unsupported("a padding mode other than zeros");
  Conv op;
  op.transposed = context.module.name.starts_with("ConvTranspose");
  op.stride = arguments.spatial("stride", rank, 1, 1);
  op.dilation = arguments.spatial("dilation", rank, 1, 1);
  op.groups = arguments.integer("groups", 1, 1);
  op.same_padding = arguments.word("padding", "") == "same";
  if (!op.same_padding && arguments.word("padding", "") != "valid") {
    op.padding_begin = op.padding_end = arguments.spatial("padding", rank, 0, 0);
  }
  if (op.transposed) op.output_padding = arguments.spatial("output_padding", rank, 0, 0);
  const std::int64_t in = arguments.extent(0);
  const std::int64_t out = arguments.extent(1);
  const std::int64_t split = op.transposed ? out : in;
  if (split % op.groups != 0) return invalid(fmt::format("{} channels in {} groups", split, op.groups));
  Shape weight = op.transposed ? Shape{in, out / op.groups} : Shape{out, in / op.groups};
  for (const std::int64_t extent : arguments.spatial("kernel_size", rank, 0, 1)) weight.push_back(extent);
  OperationBuilder builder(context.element);
  builder.input(context.input).parameter(weight);
  if (arguments.flag("bias", true)) builder.parameter({out});
  return std::move(builder).build(op);
}

Result<Graph> linear(const Context& context) {
  const std::int64_t in = context.arguments.integer("in_features", 0, 1);
  const std::int64_t out = context.arguments.integer("out_features", 0, 1);
  if (context.input.empty() || context.input.back() != in) return mismatch(context);
  OperationBuilder builder(context.element);
  builder.input(context.input).parameter({out, in});
  if (context.arguments.flag("bias", true)) builder.parameter({out});
  return std::move(builder).build(Linear{});
}

Result<Graph> batch_norm(const Context& context) {
  JC_RETURN_IF_ERROR(require_rank(context, spatial_rank(context.module) + 2));
  const Shape channels = {context.arguments.extent(0)};
  OperationBuilder builder(context.element);
  builder.input(context.input);
  for (int i = 0; i < 2; ++i) {
    if (context.arguments.flag("affine", true)) {
      builder.parameter(channels);
    } else {
      builder.no_input();
    }
  }
  if (context.arguments.flag("track_running_stats", true)) builder.parameter(channels).parameter(channels);
  return std::move(builder).build(BatchNorm{});
}

// LayerNorm((768,), ...) over the last axes; LayerNorm2d over the channels.
Result<Graph> layer_norm(const Context& context) {
  LayerNorm op;
  op.channels_first = context.module.name == "LayerNorm2d";
  Shape normalised;
  const bool named = !context.module.arguments.empty() && context.module.arguments.front().name.empty();
  const std::vector<double> extents = named ? context.module.arguments.front().numbers : std::vector<double>();
  for (const double extent : extents) {
    if (extent < 1.0 || extent > 1e9 || normalised.full()) return invalid("the normalised shape makes no sense");
    normalised.push_back(static_cast<std::int64_t>(extent));
  }
  if (normalised.empty() || normalised.size() > context.input.size()) return invalid("no normalised shape");
  op.axes = static_cast<std::int64_t>(normalised.size());
  OperationBuilder builder(context.element);
  builder.input(context.input);
  if (context.arguments.flag("elementwise_affine", true)) builder.parameter(normalised).parameter(normalised);
  return std::move(builder).build(op);
}

Result<Graph> pool(const Context& context) {
  Arguments& arguments = context.arguments;
  const std::size_t rank = spatial_rank(context.module);
  JC_RETURN_IF_ERROR(require_rank(context, rank + 2));
  Pool op;
  op.kind = context.module.name.starts_with("Max") ? PoolKind::kMax : PoolKind::kAverage;
  op.kernel = arguments.spatial("kernel_size", rank, 0, 1);
  op.stride = context.module.find("stride") == nullptr ? op.kernel : arguments.spatial("stride", rank, 1, 1);
  op.dilation = arguments.spatial("dilation", rank, 1, 1);
  op.padding_begin = op.padding_end = arguments.spatial("padding", rank, 0, 0);
  op.ceil_mode = arguments.flag("ceil_mode", false);
  return std::move(OperationBuilder(context.element).input(context.input)).build(op);
}

Result<Graph> adaptive_pool(const Context& context) {
  const std::size_t rank = spatial_rank(context.module);
  JC_RETURN_IF_ERROR(require_rank(context, rank + 2));
  AdaptivePool op;
  op.kind = context.module.name.find("Max") != std::string::npos ? PoolKind::kMax : PoolKind::kAverage;
  op.size = context.arguments.spatial("output_size", rank, 1, 1);
  return std::move(OperationBuilder(context.element).input(context.input)).build(op);
}

Result<Graph> unary(const Context& context, Operator op) {
  return std::move(OperationBuilder(context.element).input(context.input)).build(std::move(op));
}

template <ActivationKind kKind>
Result<Graph> activation(const Context& context) {
  return unary(context, Activation{.kind = kKind});
}

Result<Graph> gelu(const Context& context) {
  const bool tanh = context.arguments.word("approximate", "none") == "tanh";
  return unary(context, Activation{.kind = tanh ? ActivationKind::kGeluTanh : ActivationKind::kGelu});
}
Result<Graph> softmax(const Context& context) {
  return unary(context, Softmax{.axis = static_cast<std::int64_t>(context.arguments.number("dim", -1.0)),
                                .log = context.module.name == "LogSoftmax"});
}
Result<Graph> dropout(const Context& context) {
  return unary(context, Dropout{.probability = context.arguments.number("p", 0.5)});
}
Result<Graph> stochastic_depth(const Context& context) {
  return unary(context, StochasticDepth{.probability = context.arguments.number("p", 0.0)});
}

struct ModuleEntry {
  std::string_view name;
  Result<Graph> (*make)(const Context& context);
};

constexpr std::array kModules = std::to_array<ModuleEntry>({
    {"Conv1d", conv},
    {"Conv2d", conv},
    {"Conv3d", conv},
    {"ConvTranspose1d", conv},
    {"ConvTranspose2d", conv},
    {"ConvTranspose3d", conv},
    {"Linear", linear},
    {"BatchNorm2d", batch_norm},
    {"BatchNorm3d", batch_norm},
    {"LayerNorm", layer_norm},
    {"LayerNorm2d", layer_norm},
    {"MaxPool2d", pool},
    {"AvgPool2d", pool},
    {"AdaptiveAvgPool2d", adaptive_pool},
    {"AdaptiveMaxPool2d", adaptive_pool},
    {"ReLU", activation<ActivationKind::kRelu>},
    {"ReLU6", activation<ActivationKind::kRelu6>},
    {"SiLU", activation<ActivationKind::kSilu>},
    {"Sigmoid", activation<ActivationKind::kSigmoid>},
    {"Tanh", activation<ActivationKind::kTanh>},
    {"Hardswish", activation<ActivationKind::kHardSwish>},
    {"Hardsigmoid", activation<ActivationKind::kHardSigmoid>},
    {"LeakyReLU", activation<ActivationKind::kLeakyRelu>},
    {"ELU", activation<ActivationKind::kElu>},
    {"Mish", activation<ActivationKind::kMish>},
    {"Softplus", activation<ActivationKind::kSoftplus>},
    {"GELU", gelu},
    {"Softmax", softmax},
    {"LogSoftmax", softmax},
    {"Dropout", dropout},
    {"StochasticDepth", stochastic_depth},
});

}  // namespace

Result<Graph> module_operation(const ModuleRepr& module, const Shape& input, ElementType element) {
  for (const ModuleEntry& entry : kModules) {
    if (entry.name != module.name) continue;
    Arguments arguments(module);
    auto graph = entry.make({module, arguments, input, element});
    JC_RETURN_IF_ERROR(arguments.status());
    return graph;
  }
  return unsupported(fmt::format("module {} has no operator", module.name));
}

}  // namespace joulecast
