// SPDX-License-Identifier: Apache-2.0
// What becomes of calls of ATen operators: the operators after simplify(), and the shape of the first output.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "import/torch/aten/operators.h"
#include "import/torch/import_bytes.h"
#include "import/torch/program_writer.h"
#include "joulecast/cost.h"
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

TEST(Call, ARangeOfScalarsHasOneAxis) {
  GraphBuilder builder;
  Call call(builder, "aten.arange.default", "end", {{"y", std::nullopt, true}});
  const ValueId range = call.step(Range{}, {call.int_scalar(0), call.int_scalar(4), call.int_scalar(1)}, "range");
  EXPECT_EQ(call.guess(range).rank, 1U);
  EXPECT_EQ(builder.known(call.folded(range, "folded"))->ints, (IntList{0, 1, 2, 3}));
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
// "i" integers [3], "j" [6], "l" [2], "p" [2, 6, 6],
// "b" bools [2, 8].
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
    {"cross_entropy",
     "cross_entropy_loss.default",
     "self=Tm target=Tl",
     "softmax unsqueeze gather squeeze reduce_mean",
     {}},
    {"cross_entropy_of_each",
     "cross_entropy_loss.default",
     "self=Tm target=Tl reduction=i0",
     "softmax unsqueeze gather squeeze",
     {2}},
    {"cross_entropy_of_pixels",
     "cross_entropy_loss.default",
     "self=Tx target=Tp reduction=i2 ignore_index=i-100",
     "softmax unsqueeze gather squeeze reduce_sum",
     {}},
    {"cross_entropy_of_probabilities", "cross_entropy_loss.default", "self=Tm target=Tm", "softmax mul reduce_sum", {}},
    {"cross_entropy_smoothed",
     "cross_entropy_loss.default",
     "self=Tm target=Tl label_smoothing=f0.1",
     "softmax unsqueeze gather squeeze reduce_sum reduce_mean reduce_mean add",
     {}},
    {"nll_loss", "nll_loss_nd.default", "self=Tm target=Tl", "unsqueeze gather squeeze reduce_mean", {}},
    {"nll_loss_split",
     "nll_loss2d_forward.default",
     "self=Tx target=Tp weight=Tn reduction=i1 ignore_index=i-100",
     "unsqueeze gather squeeze reduce_mean",
     {},
     2},
    {"broadcast_tensors", "broadcast_tensors.default", "tensors=Lm,m", "", {2, 8}, 2},
    {"mse_loss", "mse_loss.default", "self=Tm target=Tm", "sub reduce_sum_square", {}},
    {"mse_loss_of_each", "mse_loss.default", "self=Tm target=Tm reduction=i0", "sub square", {2, 8}},
    {"l1_loss", "l1_loss.default", "self=Tm target=Tm", "sub reduce_l1", {}},
    {"logistic_loss",
     "binary_cross_entropy_with_logits.default",
     "self=Tm target=Tm weight=Tn reduction=i2",
     "sub mul log_sigmoid sub mul reduce_sum",
     {}},
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
    {"grouped_mm_of_few_rows",
     "_grouped_mm.default",
     "self=Tf mat2=Te offs=Ti",
     "reshape slice matmul flatten slice",
     {2, 5}},
    {"grouped_mm_of_uneven_rows",
     "_grouped_mm.default",
     "self=Td mat2=Te offs=Ti",
     "pad reshape slice matmul flatten slice",
     {7, 5}},
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
     "attention",
     {2, 5, 4}},
    {"view_with_minus_one", "view.default", "self=Tx size=l2,-1", "reshape", {2, 288}},
    {"flatten", "flatten.using_ints", "self=Tx start_dim=i1", "flatten", {2, 288}},
    {"unflatten", "unflatten.int", "self=Tx dim=i1 sizes=l2,4", "shape_of shape_of concat reshape", {2, 2, 4, 6, 6}},
    {"transpose", "transpose.int", "self=Tx dim0=i1 dim1=i-1", "transpose", {2, 6, 6, 8}},
    {"movedim", "movedim.int", "self=Tx source=i1 destination=i-1", "transpose", {2, 6, 6, 8}},
    {"expand_keeps_minus_one", "expand.default", "self=Tn size=l3,-1", "expand", {3, 8}},
    {"repeat_with_more_axes", "repeat.default", "self=Tn repeats=l3,2", "unsqueeze tile", {3, 16}},
    {"repeat_interleave",
     "repeat_interleave.self_int",
     "self=Ta repeats=i3 dim=i-2",
     "unsqueeze tile flatten",
     {2, 15, 4}},
    {"repeat_interleave_of_all",
     "repeat_interleave.self_int",
     "self=Tm repeats=i2",
     "reshape unsqueeze tile flatten",
     {32}},
    {"slice_of_nothing", "slice.Tensor", "self=Tx dim=i1 start=i0 end=i9223372036854775807", "", {2, 8, 6, 6}},
    {"slice", "slice.Tensor", "self=Tx dim=i1 start=i1 end=i-1 step=i2", "slice", {2, 3, 6, 6}},
    {"select", "select.int", "self=Tx dim=i1 index=i-1", "gather", {2, 6, 6}},
    {"stack", "stack.default", "tensors=Lm,m dim=i1", "unsqueeze unsqueeze concat", {2, 2, 8}},
    {"split_with_rest",
     "split.Tensor",
     "self=Tx split_size=i3 dim=i1",
     "mul sub unsqueeze concat split",
     {2, 3, 6, 6},
     3},
    {"chunk", "chunk.default", "self=Tx chunks=i2 dim=i1", "split", {2, 4, 6, 6}, 2},
    {"tensor_split_at_places", "tensor_split.indices", "self=Tx indices=l2,5 dim=i1", "slice", {2, 2, 6, 6}, 3},
    {"tensor_split_longer_parts_first",
     "tensor_split.sections",
     "self=Tx sections=i3 dim=i1",
     "split",
     {2, 3, 6, 6},
     3},
    {"diff", "diff.default", "self=Tm", "slice slice sub", {2, 7}},
    {"diff_of_more",
     "diff.default",
     "self=Tm n=i2 dim=i0 prepend=Tm",
     "concat slice slice sub slice slice sub",
     {2, 8}},
    {"pad_of_last_axes", "constant_pad_nd.default", "self=Tx pad=l1,2,3,4", "pad", {2, 8, 13, 9}},
    {"roll", "roll.default", "self=Tx shifts=l1,-1 dims=l2,3", "roll", {2, 8, 6, 6}},
    {"flip", "flip.default", "self=Tx dims=l2", "slice", {2, 8, 6, 6}},
    {"embedding", "embedding.default", "weight=Tw indices=Ti", "embedding", {3, 8}},
    {"rnn_cell",
     "rnn_tanh_cell.default",
     "input=Tm hx=Tm w_ih=Tw w_hh=Tw b_ih=Tn b_hh=Tn",
     "unsqueeze unsqueeze rnn squeeze",
     {2, 8}},
    {"rnn_cell_without_biases",
     "rnn_relu_cell.default",
     "input=Tm hx=Tm w_ih=Tw w_hh=Tw",
     "unsqueeze unsqueeze rnn squeeze",
     {2, 8}},
    {"embedding_bag",
     "_embedding_bag.default",
     "weight=Tw indices=Tj offsets=Ti mode=i1",
     "slice reshape embedding reduce_mean",
     {3, 8},
     4},
    {"embedding_bag_with_the_end_of_the_last",
     "embedding_bag.padding_idx",
     "weight=Tw indices=Tj offsets=Ti mode=i2 include_last_offset=b1",
     "slice reshape embedding reduce_max",
     {2, 8},
     4},
    {"embedding_bag_weighted",
     "embedding_bag.default",
     "weight=Tw indices=Tj offsets=Ti mode=i0 per_sample_weights=Tn",
     "slice reshape slice reshape embedding unsqueeze matmul squeeze",
     {3, 8},
     4},
    {"index_of_weights", "index.Tensor", "self=Tw indices=Li", "embedding", {3, 8}},
    {"index_of_second_axis", "index.Tensor", "self=Tm indices=O-,i", "gather", {2, 3}},
    {"index_of_two_axes",
     "index.Tensor",
     "self=Tx indices=O-,-,i,i",
     "transpose add shape_of expand unsqueeze expand unsqueeze concat gather transpose",
     {2, 8, 3}},
    {"index_add", "index_add_.default", "self=Tm dim=i1 index=Ti source=Tf alpha=i1", "scatter", {2, 8}},
    {"index_copy", "index_copy.default", "self=Tm dim=i-1 index=Ti source=Tf", "scatter", {2, 8}},
    {"product_of_vectors", "vdot.default", "self=Tn other=Tn", "matmul", {}},
    {"index_put", "index_put.default", "self=Tm indices=O-,i values=Tf", "aten.index_put.default", {2, 8}},
    {"masked_scatter",
     "masked_scatter.default",
     "self=Tm mask=Tb source=Tw",
     "shape_of expand reshape cast cumulate reshape gather reshape where",
     {2, 8}},
    {"histc", "histc.default", "self=Tm bins=i4", "reshape cast fill scatter", {4}},
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
    {"im2col",
     "im2col.default",
     "self=Tx kernel_size=l3,2 dilation=l2,1 padding=l1,0 stride=l1,2",
     "flatten gather flatten",
     {2, 48, 12}},
    {"im2col_without_batch",
     "im2col.default",
     "self=Ta kernel_size=l2,2 dilation=l1,1 padding=l0,0 stride=l1,1",
     "unsqueeze flatten gather flatten squeeze",
     {8, 12}},
    {"col2im",
     "col2im.default",
     "self=Tc output_size=l2,6 kernel_size=l2,2 dilation=l1,1 padding=l0,0 stride=l1,1",
     "expand reshape scatter reshape",
     {2, 1, 2, 6}},
    {"unfold_of_last_axis", "unfold.default", "self=Tx dimension=i-1 size=i3 step=i2", "gather", {2, 8, 6, 2, 3}},
    {"unfold_of_axis_before",
     "unfold.default",
     "self=Tx dimension=i2 size=i2 step=i1",
     "gather transpose",
     {2, 8, 5, 6, 2}},
    {"diagonal", "diagonal.default", "self=Tx offset=i1 dim1=i-2 dim2=i-1", "flatten slice", {2, 8, 5}},
    {"diagonal_of_first_axes", "diagonal.default", "self=Tx", "transpose flatten slice", {6, 6, 2}},
    {"diagonal_below", "diagonal.default", "self=Tm offset=i-1", "flatten slice", {1}},
    {"diagonal_outside", "diagonal.default", "self=Tm offset=i9", "flatten slice", {0}},
    {"as_strided_turned",
     "as_strided.default",
     "self=Tm size=l8,2 stride=l1,8",
     "reshape slice reshape transpose expand",
     {8, 2}},
    {"as_strided_repeated",
     "as_strided.default",
     "self=Tm size=l5,8 stride=l0,1 storage_offset=i8",
     "reshape slice reshape transpose expand",
     {5, 8}},
    {"as_strided_with_gaps", "as_strided.default", "self=Tm size=l3,2 stride=l4,1", "reshape gather", {3, 2}},
    {"as_strided_overlapping", "as_strided.default", "self=Tm size=l6,3 stride=l2,1", "reshape gather", {6, 3}},
    {"weight_norm", "_weight_norm_interface.default", "v=Tk g=Tg", "reduce_l2 div mul", {4, 8, 3, 3}, 2},
    {"cdist_of_few", "_cdist_forward.default", "x1=Ta x2=Ta p=f2.0", "matmul", {2, 5, 5}},
    {"cdist_by_product",
     "_cdist_forward.default",
     "x1=Ta x2=Ta p=f2.0 compute_mode=i1",
     "square reduce_sum shape_of fill mul concat square reduce_sum shape_of fill concat matmul relu sqrt",
     {2, 5, 5}},
    {"pdist", "_pdist_forward.default", "self=Tm p=f2.0", "matmul reshape slice", {1}},
    {"sym_stride", "sym_stride.int", "self=Tx dim=i1", "", {}},
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

torch::ProgramWriter program_with_inputs() {
  torch::ProgramWriter program;
  program.parameter("w", "w", {"8", "8"}).parameter("k", "k", {"4", "8", "3", "3"}).parameter("n", "n", {"8"});
  program.parameter("t", "t", {"8", "4", "4", "4"}).parameter("g", "g", {"4", "1", "1", "1"});
  program.parameter("e", "e", {"3", "3", "5"}).input("d", {"7", "3"});
  program.input("x", {"2", "8", "6", "6"}).input("m", {"2", "8"}).input("q", {"2", "4", "5", "16"});
  program.input("a", {"2", "5", "4"}).input("c", {"2", "4", "5"}).input("f", {"2", "3"});
  program.input("l", {"2"}, 5).input("p", {"2", "6", "6"}, 5);
  program.input("i", {"3"}, 5).input("j", {"6"}, 5).input("b", {"2", "8"}, 12);
  return program;
}

class LoweringTest : public testing::Test {
 public:
  explicit LoweringTest(const Case& test) : case_(test) {}

  void TestBody() override {
    torch::ProgramWriter program = program_with_inputs();
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

struct Work {
  const char* name;
  const char* target;
  const char* arguments;
  double read, written, flops;  // bytes, bytes; worked out by hand
};

// Views cost nothing; indices have 8 bytes each.
const Work kWork[] = {
    // 9 windows of 9 entries for 2 x 8 channels: 5184 bytes, of an input of 2304; 81 places.
    {"im2col", "im2col.default", "self=Tx kernel_size=l3,3 dilation=l1,1 padding=l1,1 stride=l2,2", 2304 + 648, 5184,
     0},
    // 40 elements and the places of 20.
    {"col2im", "col2im.default", "self=Tc output_size=l2,6 kernel_size=l2,2 dilation=l1,1 padding=l0,0 stride=l1,1",
     160 + 160, 160, 0},
    // 2 windows of 3 in each of 96 rows: 2304 bytes; 6 places.
    {"unfold", "unfold.default", "self=Tx dimension=i-1 size=i3 step=i2", 2304 + 48, 2304, 0},
    {"diagonal", "diagonal.default", "self=Tx offset=i1 dim1=i-2 dim2=i-1", 0, 0, 0},
    {"as_strided_turned", "as_strided.default", "self=Tm size=l8,2 stride=l1,8", 0, 0, 0},
    // 18 of 16 elements.
    {"as_strided_overlapping", "as_strided.default", "self=Tm size=l6,3 stride=l2,1", 64 + 144, 72, 0},
    // 6 of 8 rows of 32 bytes, then 6 rows to 3.
    {"embedding_bag", "embedding_bag.default", "weight=Tw indices=Tj offsets=Ti mode=i0", 192 + 48 + 192, 192 + 96, 48},
    // 16 elements: mask to numbers, their sums, 16 of 64 elements, the choice among 1 + 4 + 4 bytes.
    {"masked_scatter", "masked_scatter.default", "self=Tm mask=Tb source=Tw", 16 + 128 + 64 + 128 + 144,
     128 + 128 + 64 + 64, 16 + 16},
    // Logarithms of 16 shares; 2 places and what stands there; their mean.
    {"cross_entropy", "cross_entropy_loss.default", "self=Tm target=Tl", 64 + 8 + 16 + 8, 64 + 8 + 4, 16 * 5 + 2},
    {"diff", "diff.default", "self=Tm", 56 + 56, 56, 14},
    // 16 elements as places; 4 zeros; each added to its own.
    {"histc", "histc.default", "self=Tm bins=i4", 64 + 128 + 64, 128 + 16 + 64, 0},
    {"tensor_split", "tensor_split.indices", "self=Tx indices=l2,5 dim=i1", 0, 0, 0},
    // 288 elements to 4 norms, 4 quotients, 288 products.
    {"weight_norm", "_weight_norm.default", "v=Tk g=Tg", 1152 + 32 + 1152 + 16, 16 + 16 + 1152, 576 + 4 + 288},
    // 2 x 5 x 5 distances over 4 columns.
    {"cdist", "_cdist_forward.default", "x1=Ta x2=Ta p=f1.0", 320, 200, 400},
    {"pdist", "_pdist_forward.default", "self=Tw p=f2.0", 512, 256, 1024},
    // 2 rows of 3 by 2 of 3 experts of 3 x 5.
    {"grouped_mm", "_grouped_mm.default", "self=Tf mat2=Te offs=Ti", 24 + 120, 40, 60},
};

class WorkTest : public testing::Test {
 public:
  explicit WorkTest(const Work& test) : work_(test) {}

  void TestBody() override {
    torch::ProgramWriter program = program_with_inputs();
    program.node(fmt::format("torch.ops.aten.{}", work_.target), arguments(work_.arguments), {"y", "more", "most"});
    program.output("y");
    const auto graph = torch::import_program(program.text(), "net").transform(simplify);
    ASSERT_TRUE(graph) << graph.error().text();
    const auto types = infer_types(*graph, {});
    ASSERT_TRUE(types) << types.error().text();
    Cost sum;
    for (const Node& node : graph->nodes) sum += operator_cost(CostContext(*graph, node, *types));
    EXPECT_EQ(sum.forward_read, Bytes{work_.read});
    EXPECT_EQ(sum.forward_written, Bytes{work_.written});
    EXPECT_EQ(sum.forward_flops, Flops{work_.flops});
  }

 private:
  const Work& work_;
};

// x.unfold(2, ...).unfold(3, ...) is one take from both axes: 2 x 8 x (2 x 4) windows of 3 x 3, and 72 places.
TEST(AtenWindows, OverTwoAxesAreTakenOnce) {
  for (const bool rows_first : {true, false}) {
    const std::string rows = "dimension=i2 size=i3 step=i2";
    const std::string columns = "dimension=i3 size=i3 step=i1";
    torch::ProgramWriter program = program_with_inputs();
    program.node("torch.ops.aten.unfold.default", arguments("self=Tx " + (rows_first ? rows : columns)), {"one"});
    program.node("torch.ops.aten.unfold.default", arguments("self=Tone " + (rows_first ? columns : rows)), {"two"});
    program.output("two");
    const auto graph = torch::import_program(program.text(), "net").transform(simplify);
    ASSERT_TRUE(graph) << graph.error().text();
    const auto types = infer_types(*graph, {});
    ASSERT_TRUE(types) << types.error().text();
    ASSERT_EQ(graph->nodes.size(), 2U) << print_graph(*graph);
    EXPECT_EQ(label(graph->nodes[0].op), "flatten");
    EXPECT_EQ(text(types->type(graph->outputs[0]).shape), "2x8x2x4x3x3");
    const Cost cost = operator_cost(CostContext(*graph, graph->nodes[1], *types));
    EXPECT_EQ(cost.forward_read, Bytes{2304 + 576});
    EXPECT_EQ(cost.forward_written, Bytes{4608});
    // The last window's last element is the plane's last; the first window's second row, or its second column, comes
    // next.
    const Contents* places = types->known(graph->nodes[1].inputs[1]);
    ASSERT_NE(places, nullptr);
    EXPECT_EQ(places->ints.front(), 0);
    EXPECT_EQ(places->ints[1], rows_first ? 1 : 6);
    EXPECT_EQ(places->ints[3], rows_first ? 6 : 1);
    EXPECT_EQ(places->ints.back(), 4 * 6 + 5);
  }
}

TEST(AtenWindows, OfAxesApartAreTakenOneAfterTheOther) {
  torch::ProgramWriter program = program_with_inputs();
  program.node("torch.ops.aten.unfold.default", arguments("self=Tx dimension=i1 size=i3 step=i2"), {"one"});
  program.node("torch.ops.aten.unfold.default", arguments("self=Tone dimension=i3 size=i3 step=i1"), {"two"});
  program.output("two");
  const auto graph = torch::import_program(program.text(), "net");
  ASSERT_TRUE(graph) << graph.error().text();
  const auto types = infer_types(*graph, {});
  ASSERT_TRUE(types) << types.error().text();
  EXPECT_EQ(text(types->type(graph->outputs[0]).shape), "2x3x6x4x3x3");
}

// The places of im2col are those that torch reads: of the second row of a window over x [.., 6, 6], and border for
// padding.
TEST(AtenWindows, PlacesAreThoseOfTheElements) {
  torch::ProgramWriter program = program_with_inputs();
  program.node("torch.ops.aten.im2col.default",
               arguments("self=Tx kernel_size=l2,2 dilation=l2,1 padding=l1,0 stride=l3,2"), {"y"});
  program.output("y");
  const auto graph = torch::import_program(program.text(), "net").transform(simplify);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto types = infer_types(*graph, {});
  ASSERT_TRUE(types) << types.error().text();
  const Contents* places = types->known(graph->nodes[1].inputs[1]);
  ASSERT_NE(places, nullptr);
  // Rows -1 (0 instead) and 2 for the first entry, 1 and 4 for the second; columns 0, 2, 4 and 1, 3, 5.
  const std::vector<std::int64_t> expected{0, 2, 4,  12, 14, 16, 1, 3, 5,  13, 15, 17,
                                           6, 8, 10, 24, 26, 28, 7, 9, 11, 25, 27, 29};
  EXPECT_EQ(places->ints, expected);
}

torch::ProgramWriter program_with_encoder_layer() {
  torch::ProgramWriter program;
  program.parameter("qw", "qw", {"12", "4"}).parameter("qb", "qb", {"12"}).parameter("ow", "ow", {"4", "4"});
  program.parameter("ob", "ob", {"4"}).parameter("w", "w", {"8", "4"}).parameter("v", "v", {"8"});
  program.parameter("u", "u", {"4", "8"}).parameter("n", "n", {"4"}).parameter("s", "s", {"4"});
  program.input("x", {"2", "5", "4"}).input("p", {"2", "5"}, 12);
  return program;
}

// Of 2 x 5 rows: 20 FLOPs a weight of the matrices (48 + 16 + 32 + 32), and 2 x 25 scores of 4 numbers, twice.
TEST(AtenAttention, AnEncoderLayerIsWhatItRuns) {
  const std::string behind =
      "linear split reshape transpose reshape transpose reshape transpose attention transpose "
      "reshape linear add layer_norm linear relu linear add layer_norm";
  const std::string before =
      "unsqueeze layer_norm linear split reshape transpose reshape transpose reshape transpose "
      "attention transpose reshape linear add layer_norm linear gelu linear add";
  for (const bool norm_first : {false, true}) {
    torch::ProgramWriter program = program_with_encoder_layer();
    std::string text =
        "src=Tx embed_dim=i4 num_heads=i2 qkv_weight=Tqw qkv_bias=Tqb proj_weight=Tow proj_bias=Tob "
        "norm_weight_1=Tn norm_bias_1=Tn norm_weight_2=Ts norm_bias_2=Ts ffn_weight_1=Tw ffn_bias_1=Tv "
        "ffn_weight_2=Tu ffn_bias_2=Tn eps=f1e-5 ";
    text += norm_first ? "use_gelu=b1 norm_first=b1 mask=Tp mask_type=i1" : "use_gelu=b0 norm_first=b0";
    program.node("torch.ops.aten._transformer_encoder_layer_fwd.default", arguments(text), {"y"});
    program.output("y");
    const auto graph = torch::import_program(program.text(), "net").transform(simplify);
    ASSERT_TRUE(graph) << graph.error().text();
    const auto types = infer_types(*graph, {});
    ASSERT_TRUE(types) << types.error().text();
    std::string operators;
    Flops products;
    for (const Node& node : graph->nodes) {
      operators += (operators.empty() ? "" : " ") + label(node.op);
      if (label(node.op) == "linear") products += operator_cost(CostContext(*graph, node, *types)).forward_flops;
    }
    EXPECT_EQ(operators, norm_first ? before : behind);
    EXPECT_EQ(products, Flops{20.0 * (48 + 16 + 32 + 32)});
    EXPECT_EQ(joulecast::text(types->type(graph->outputs[0]).shape), "2x5x4");
  }
}

// Of a matrix of 4 x 6 numbers that count up.
TEST(AtenWindows, DiagonalsAreThoseOfTheElements) {
  const std::vector<std::pair<std::string, IntList>> cases{
      {"0", {0, 7, 14, 21}}, {"2", {2, 9, 16, 23}}, {"4", {4, 11}}, {"-1", {6, 13, 20}}, {"-3", {18}}};
  for (const auto& [offset, expected] : cases) {
    torch::ProgramWriter program = program_with_inputs();
    program.node("torch.ops.aten.arange.default", arguments("end=i24"), {"all"});
    program.node("torch.ops.aten.view.default", arguments("self=Tall size=l4,6"), {"matrix"});
    program.node("torch.ops.aten.diagonal.default", arguments("self=Tmatrix offset=i" + offset), {"y"});
    program.output("y");
    const auto graph = torch::import_program(program.text(), "net");
    ASSERT_TRUE(graph) << graph.error().text();
    const auto types = infer_types(*graph, {});
    ASSERT_TRUE(types) << types.error().text();
    const Contents* elements = types->known(graph->outputs[0]);
    ASSERT_NE(elements, nullptr);
    EXPECT_EQ(elements->ints, expected) << offset;
  }
}

// 4 x 4 windows of a 56 x 56 plane are 3136 places: more than are followed, and no work when the network runs.
TEST(AtenWindows, ManyPlacesAreOneConstant) {
  torch::ProgramWriter program;
  program.input("x", {"2", "8", "56", "56"});
  program.node("torch.ops.aten.im2col.default",
               arguments("self=Tx kernel_size=l4,4 dilation=l1,1 padding=l0,0 stride=l4,4"), {"y"});
  program.output("y");
  const auto graph = torch::import_program(program.text(), "net").transform(simplify);
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->nodes.size(), 3U) << print_graph(*graph);
  const Value& places = graph->value(graph->nodes[1].inputs[1]);
  EXPECT_EQ(places.kind, ValueKind::kConstant);
  EXPECT_EQ(text(places.type.shape), "16x196");
}

TEST(AtenWindows, OpenExtentsAreFollowed) {
  torch::ProgramWriter program;
  program.input("x", {"2", "8", "h", "w"});
  program.node("torch.ops.aten.im2col.default",
               arguments("self=Tx kernel_size=l3,3 dilation=l1,1 padding=l1,1 stride=l2,2"), {"y"});
  program.output("y");
  const auto graph = torch::import_program(program.text(), "net").transform(simplify);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto types = infer_types(*graph, Binding{{}, {{"x", {2, 8, 12, 10}}}, {}});
  ASSERT_TRUE(types) << types.error().text();
  EXPECT_EQ(text(types->type(graph->outputs[0]).shape), "2x72x30");
}

const bool kRegistered = [] {
  for (const Case& test : kCases) {
    testing::RegisterTest("AtenLowering", test.name, nullptr, nullptr, __FILE__, __LINE__,
                          [&test]() -> testing::Test* { return new LoweringTest(test); });
  }
  for (const Work& test : kWork) {
    testing::RegisterTest("AtenWork", test.name, nullptr, nullptr, __FILE__, __LINE__,
                          [&test]() -> testing::Test* { return new WorkTest(test); });
  }
  return true;
}();

}  // namespace
}  // namespace joulecast::aten
