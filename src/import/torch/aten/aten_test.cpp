// SPDX-License-Identifier: Apache-2.0
// What becomes of calls of ATen operators: the operators after simplify(), and the shape of the first output.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "import/torch/aten/operators.h"
#include "import/torch/import_bytes.h"
#include "import/torch/program_writer.h"
#include "joulecast/passes.h"

namespace joulecast::aten {
namespace {

TEST(AtenOperators, AreSortedAndThereOnce) {
  const auto list = operator_list();
  for (std::size_t i = 1; i < list.size(); ++i) {
    EXPECT_LT(std::tie(list[i - 1].name, list[i - 1].overload), std::tie(list[i].name, list[i].overload));
  }
}

TEST(AtenOperators, OverloadsAndFormsInPlace) {
  EXPECT_EQ(find_operator("relu_", "default"), find_operator("relu", ""));
  EXPECT_EQ(find_operator("arange", "start")->overload, "start");
  EXPECT_EQ(find_operator("arange", "default")->overload, "");
  EXPECT_EQ(find_operator("__and__", "Tensor")->name, "__and__");
  EXPECT_EQ(find_operator("no_such_operator", "default"), nullptr);
}

TEST(Call, ArgumentsByPlaceAndName) {
  GraphBuilder builder;
  Call call(builder, "aten.max.dim", "self, dim|other, keepdim", {});
  ASSERT_TRUE(call.set_positional(1, Integer{3}));
  call.set_named("keepdim", true);
  call.set_named("of_a_newer_version", true);
  EXPECT_EQ(call.number("dim"), 3);
  EXPECT_EQ(call.number("other"), 3);
  EXPECT_EQ(call.flag("keepdim", false), true);
  EXPECT_FALSE(call.has("self"));
  EXPECT_EQ(call.tensor("self").error().text(), "argument 'self' is missing");
  EXPECT_EQ(call.tensor("dim").error().text(), "argument 'dim' is not a tensor");
  EXPECT_FALSE(call.set_positional(3, Integer{0}));
}

struct Case {
  const char* name;
  const char* target;     // without "torch.ops.aten."
  const char* arguments;  // "name=value", a space between: T tensor, i integer, f float, b bool, s string, l integers
  const char* operators;  // after simplify()
  Shape shape;
  std::size_t outputs = 1;
};

// "x" is [2, 8, 6, 6], "m" [2, 8], "w" the weight [8, 8], "k" the weight [4, 8, 3, 3], "n" [8], "q" [2, 4, 5, 16],
// "i" integers [3], "b" bools [2, 8].
const Case kCases[] = {
    {"add_scalar", "add.Scalar", "self=Tx other=f2.5", "add", {2, 8, 6, 6}},
    {"reverse_sub", "rsub.Scalar", "self=Tx other=i1", "sub", {2, 8, 6, 6}},
    {"integer_times_float", "mul.Tensor", "self=Ti other=f2.0", "cast mul", {3}},
    {"not_equal", "ne.Scalar", "self=Tx other=i0", "equal not", {2, 8, 6, 6}},
    {"masked_fill", "masked_fill.Scalar", "self=Tm mask=Tb value=f-1.0", "where", {2, 8}},
    {"to_same_type", "to.dtype", "self=Tx dtype=t7", "", {2, 8, 6, 6}},
    {"to_half", "to.dtype", "self=Tx dtype=t6", "cast", {2, 8, 6, 6}},
    {"dropout_in_eval_mode", "dropout.default", "input=Tx p=f0.5 train=b0", "", {2, 8, 6, 6}},
    {"dropout_in_train_mode", "dropout.default", "input=Tx p=f0.5 train=b1", "dropout", {2, 8, 6, 6}},
    {"clamp_from_zero", "clamp.default", "self=Tx min=i0", "relu", {2, 8, 6, 6}},
    {"hardtanh_to_six", "hardtanh_.default", "self=Tx min_val=f0.0 max_val=f6.0", "relu6", {2, 8, 6, 6}},
    {"gelu_tanh", "gelu.default", "self=Tx approximate=stanh", "gelu_tanh", {2, 8, 6, 6}},
    {"glu", "glu.default", "self=Tx dim=i1", "split sigmoid mul", {2, 4, 6, 6}},
    {"log_softmax", "_log_softmax.default", "self=Tm dim=i1 half_to_float=b0", "softmax", {2, 8}},
    {"conv_same", "conv2d.padding", "input=Tx weight=Tk padding=ssame", "conv", {2, 4, 6, 6}},
    {"conv_strided",
     "convolution.default",
     "input=Tx weight=Tk stride=l2,2 padding=l1,1 dilation=l1,1 transposed=b0",
     "conv",
     {2, 4, 3, 3}},
    {"conv_transposed",
     "conv_transpose2d.input",
     "input=Tx weight=Tt stride=l2 padding=l1",
     "conv_transpose",
     {2, 4, 12, 12}},
    {"max_pool_default_stride", "max_pool2d.default", "self=Tx kernel_size=l2", "max_pool", {2, 8, 3, 3}},
    {"adaptive_pool", "adaptive_avg_pool2d.default", "self=Tx output_size=l1,1", "adaptive_average_pool", {2, 8, 1, 1}},
    {"mean_as_adaptive_pool", "mean.dim", "self=Tx dim=l-1,-2 keepdim=b1", "adaptive_average_pool", {2, 8, 1, 1}},
    {"mean_of_all", "mean.default", "self=Tx", "reduce_mean", {}},
    {"linear", "linear.default", "input=Tm weight=Tw bias=Tn", "linear", {2, 8}},
    {"addmm_of_weight", "addmm.default", "self=Tn mat1=Tm mat2=Tw", "linear", {2, 8}},
    {"baddbmm", "baddbmm.default", "self=Ta batch1=Ta batch2=Tc beta=i0", "matmul", {2, 5, 5}},
    {"einsum", "einsum.default", "equation=sbij,bjk->bik tensors=La,c", "matmul", {2, 5, 5}},
    {"einsum_of_other_kind",
     "einsum.default",
     "equation=s...ij,...jk->...ik tensors=La,c",
     "aten.einsum.default",
     {2, 5, 5}},
    {"layer_norm", "layer_norm.default", "input=Tm normalized_shape=l8 weight=Tn bias=Tn", "layer_norm", {2, 8}},
    {"native_group_norm",
     "native_group_norm.default",
     "input=Tx weight=Tn bias=Tn N=i2 C=i8 HxW=i36 group=i4 eps=f1e-5",
     "group_norm",
     {2, 8, 6, 6},
     3},
    {"batch_norm_no_training",
     "_native_batch_norm_legit_no_training.default",
     "input=Tx weight=Tn bias=Tn running_mean=Tn running_var=Tn momentum=f0.1 eps=f1e-5",
     "batch_norm",
     {2, 8, 6, 6},
     3},
    {"attention",
     "scaled_dot_product_attention.default",
     "query=Tq key=Tq value=Tq is_causal=b1",
     "attention",
     {2, 4, 5, 16}},
    {"attention_of_the_cpu",
     "_scaled_dot_product_flash_attention_for_cpu.default",
     "query=Tq key=Tq value=Tq",
     "attention",
     {2, 4, 5, 16},
     2},
    {"attention_on_three_axes",
     "scaled_dot_product_attention.default",
     "query=Ta key=Ta value=Ta",
     "unsqueeze unsqueeze unsqueeze attention squeeze",
     {2, 5, 4}},
    {"view_with_minus_one", "view.default", "self=Tx size=l2,-1", "reshape", {2, 288}},
    {"flatten", "flatten.using_ints", "self=Tx start_dim=i1", "flatten", {2, 288}},
    {"unflatten", "unflatten.int", "self=Tx dim=i1 sizes=l2,4", "shape_of shape_of concat reshape", {2, 2, 4, 6, 6}},
    {"transpose", "transpose.int", "self=Tx dim0=i1 dim1=i-1", "transpose", {2, 6, 6, 8}},
    {"movedim", "movedim.int", "self=Tx source=i1 destination=i-1", "transpose", {2, 6, 6, 8}},
    {"expand_keeps_minus_one", "expand.default", "self=Tn size=l3,-1", "expand", {3, 8}},
    {"repeat_with_more_axes", "repeat.default", "self=Tn repeats=l3,2", "unsqueeze tile", {3, 16}},
    {"slice_of_nothing", "slice.Tensor", "self=Tx dim=i1 start=i0 end=i9223372036854775807", "", {2, 8, 6, 6}},
    {"slice", "slice.Tensor", "self=Tx dim=i1 start=i1 end=i-1 step=i2", "slice", {2, 3, 6, 6}},
    {"select", "select.int", "self=Tx dim=i1 index=i-1", "gather", {2, 6, 6}},
    {"stack", "stack.default", "tensors=Lm,m dim=i1", "unsqueeze unsqueeze concat", {2, 2, 8}},
    {"split_with_rest",
     "split.Tensor",
     "self=Tx split_size=i3 dim=i1",
     "shape_of squeeze mul sub unsqueeze concat split",
     {2, 3, 6, 6},
     3},
    {"chunk", "chunk.default", "self=Tx chunks=i2 dim=i1", "split", {2, 4, 6, 6}, 2},
    {"pad_of_last_axes", "constant_pad_nd.default", "self=Tx pad=l1,2,3,4", "pad", {2, 8, 13, 9}},
    {"roll", "roll.default", "self=Tx shifts=l1,-1 dims=l2,3", "roll", {2, 8, 6, 6}},
    {"flip", "flip.default", "self=Tx dims=l2", "slice", {2, 8, 6, 6}},
    {"embedding", "embedding.default", "weight=Tw indices=Ti", "embedding", {3, 8}},
    {"index_of_weights", "index.Tensor", "self=Tw indices=Li", "embedding", {3, 8}},
    {"index_of_second_axis", "index.Tensor", "self=Tm indices=O-,i", "gather", {2, 3}},
    {"index_of_two_axes",
     "index.Tensor",
     "self=Tx indices=O-,-,i,i",
     "transpose add shape_of expand unsqueeze expand unsqueeze concat gather transpose",
     {2, 8, 3}},
    {"index_put", "index_put.default", "self=Tm indices=O-,i values=Tf", "aten.index_put.default", {2, 8}},
    {"top_k", "topk.default", "self=Tm k=i3", "top_k", {2, 3}, 2},
    {"sort", "sort.default", "self=Tm dim=i1", "shape_of top_k", {2, 8}, 2},
    {"max_with_places", "max.dim", "self=Tm dim=i1", "reduce_max reduce_arg_max", {2}, 2},
    {"max_of_two", "max.other", "self=Tm other=Tm", "max", {2, 8}},
    {"argmax_of_all", "argmax.default", "self=Tm", "reshape reduce_arg_max", {}},
    {"sum_of_bools", "sum.dim_IntList", "self=Tb dim=l1", "cast reduce_sum", {2}},
    {"zeros_like", "zeros_like.default", "self=Tm", "shape_of fill", {2, 8}},
    {"arange_with_step", "arange.start_step", "start=i1 end=i10 step=i2", "range", {5}},
    {"upsample", "upsample_nearest2d.vec", "input=Tx scale_factors=r2.0,2.0", "resize", {2, 8, 12, 12}},
    {"pixel_shuffle", "pixel_shuffle.default", "self=Tx upscale_factor=i2", "pixel_shuffle", {2, 2, 12, 12}},
    {"linalg_norm", "linalg_vector_norm.default", "self=Tm ord=i2 dim=l1", "reduce_l2", {2}},
};

std::string quoted(const std::string& list, const char* form) {
  std::string out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string item = list.substr(at, end - at);
    out += (out.empty() ? "" : ",") +
           (item == "-" ? std::string(R"({"as_none":true})") : fmt::format(fmt::runtime(form), item));
    at = end + 1;
  }
  return out;
}

std::string argument(char kind, const std::string& value) {
  switch (kind) {
    case 'T':
      return torch::tensor(value);
    case 'i':
      return fmt::format(R"({{"as_int":{}}})", value);
    case 'f':
      return fmt::format(R"({{"as_float":{}}})", value);
    case 'b':
      return fmt::format(R"({{"as_bool":{}}})", value == "1");
    case 's':
      return fmt::format(R"({{"as_string":"{}"}})", value);
    case 't':
      return fmt::format(R"({{"as_scalar_type":{}}})", value);
    case 'l':
      return fmt::format(R"({{"as_ints":[{}]}})", value);
    case 'r':
      return fmt::format(R"({{"as_floats":[{}]}})", value);
    case 'L':
      return fmt::format(R"({{"as_tensors":[{}]}})", quoted(value, R"({{"name":"{}"}})"));
    default:
      return fmt::format(R"({{"as_optional_tensors":[{}]}})", quoted(value, R"({{"as_tensor":{{"name":"{}"}}}})"));
  }
}

std::vector<std::string> arguments(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::size_t equals = word.find('=');
    out.push_back(word.substr(0, equals));
    out.push_back(argument(word[equals + 1], word.substr(equals + 2)));
    at = end + 1;
  }
  return out;
}

class LoweringTest : public testing::Test {
 public:
  explicit LoweringTest(const Case& test) : case_(test) {}

  void TestBody() override {
    torch::ProgramWriter program;
    program.parameter("w", "w", {"8", "8"}).parameter("k", "k", {"4", "8", "3", "3"}).parameter("n", "n", {"8"});
    program.parameter("t", "t", {"8", "4", "4", "4"});
    program.input("x", {"2", "8", "6", "6"}).input("m", {"2", "8"}).input("q", {"2", "4", "5", "16"});
    program.input("a", {"2", "5", "4"}).input("c", {"2", "4", "5"}).input("f", {"2", "3"});
    program.input("i", {"3"}, 5).input("b", {"2", "8"}, 12);
    std::vector<std::string> results;
    for (std::size_t i = 0; i < case_.outputs; ++i) results.push_back(fmt::format("y{}", i));
    program.node(fmt::format("torch.ops.aten.{}", case_.target), arguments(case_.arguments), results);
    const bool both = case_.outputs == 2 && std::string(case_.name).starts_with("max_with");
    std::vector<std::string> extents;
    for (const std::int64_t extent : case_.shape) extents.push_back(std::to_string(extent));
    if (std::string(case_.operators).starts_with("aten.")) program.value("y0", extents);
    program.output("y0");
    if (both) program.output("y1");
    if (std::string(case_.target).starts_with("split") || std::string(case_.target).starts_with("chunk")) {
      program.output("y1");
    }
    const auto graph = torch::import_program(program.text(), "net");
    ASSERT_TRUE(graph) << graph.error().text();
    const auto types = infer_types(*graph, {});
    ASSERT_TRUE(types) << types.error().text() << "\n" << print_graph(*graph);
    EXPECT_EQ(text(types->type(graph->outputs[0]).shape), text(case_.shape));
    std::string operators;
    const Graph folded = simplify(*graph);
    for (const Node& node : folded.nodes) operators += (operators.empty() ? "" : " ") + label(node.op);
    EXPECT_EQ(operators, case_.operators);
  }

 private:
  const Case& case_;
};

const bool kRegistered = [] {
  for (const Case& test : kCases) {
    testing::RegisterTest("AtenLowering", test.name, nullptr, nullptr, __FILE__, __LINE__,
                          [&test]() -> testing::Test* { return new LoweringTest(test); });
  }
  return true;
}();

}  // namespace
}  // namespace joulecast::aten
