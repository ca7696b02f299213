// SPDX-License-Identifier: Apache-2.0
// Follows forward() of an archive's module from its inputs to its outputs, as an interpreter would, except that tensors
// are values of a graph: calls of modules and functions are entered, operators are lowered by the table of
// import/torch/aten, and branches are taken where what they depend on is known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/builder.h"
#include "import/guessed_shapes.h"
#include "import/samples.h"
#include "import/torch/aten/call.h"
#include "import/torchscript/archive.h"
#include "import/torchscript/item.h"
#include "joulecast/import.h"

namespace joulecast::torchscript {

// What is known of an input before the code is followed.
struct InputHint {
  ElementType element = ElementType::kFloat32;
  std::vector<std::optional<std::int64_t>> extents;
  bool supposed = false;  // the rank, too: whoever reads it must tell
};
struct InputHints {
  std::map<std::string, InputHint, std::less<>> shapes;
  std::set<std::string, std::less<>> batch_behind;  // inputs whose second axis is the batch
};

// A call of a function that is being followed.
struct Frame {
  Frame(const Source& in, const Function& called, std::string_view of) : source(in), function(called), path(of) {}

  const Source& source;
  const Function& function;
  std::string_view path;  // of the module that it belongs to

  std::array<std::byte, 2048> buffer;  // enough for the variables of most
  std::pmr::monotonic_buffer_resource memory{buffer.data(), buffer.size()};
  std::pmr::unordered_map<std::string_view, Item> variables{&memory};
};

class Importer {
 public:
  // `fixed`: every input has the shape of the example, also where another batch would do.
  // `asked`: shapes of inputs, for those that the file does not tell.
  Importer(Archive& archive, bool fixed, InputHints& hints, const InputShapes& asked)
      : archive_(archive), hints_(hints), asked_(asked), fixed_(fixed) {}

  // Where an input's shape was missing and is guessed now, wants_another_run() says so; whoever called runs a new one.
  Result<Graph> run(std::string_view name);
  [[nodiscard]] bool wants_another_run() const { return hinted_; }
  // Open extents, and what they are in each sample.
  using OpenSizes = std::map<std::string, std::array<std::int64_t, kSamples>>;
  [[nodiscard]] const OpenSizes& open_sizes() const { return open_sizes_; }
  // What was followed while the graph was built.
  [[nodiscard]] const Samples& samples() const { return samples_; }
  // An error of run() with the shapes that were guessed before it, any of which may be why.
  [[nodiscard]] Error with_guesses(Error error) const;

 private:
  friend struct Builtins;      // builtins.cpp
  friend struct ListBuiltins;  // builtins_list.cpp

  // inputs.cpp
  Result<Arguments> inputs_of(const Source& source, const Function& forward);
  Result<Item> input_like(const std::string& name, PickleId example, std::size_t depth);
  Item add_input(const std::string& name, ElementType element, std::vector<Dimension> dimensions);
  std::vector<Dimension> open_dimensions(const std::string& name, const TensorType& example);
  std::vector<Dimension> hinted_dimensions(const std::string& name, const InputHint& hint);
  void note_shape(const std::string& input, std::string shape);
  // Of an input without a shape, by the operator that reads it first. Always an error.
  Result<void> guess_input(const std::string& input, std::string_view name, const Arguments& arguments);
  [[nodiscard]] const TensorType* type_of(const Item& item) const;
  void add_hint(const std::string& input, InputHint hint);
  [[nodiscard]] std::size_t batch_place(const std::string& input, std::size_t rank) const;
  [[nodiscard]] InputHint as_asked(const std::string& input, InputHint hint) const;
  // Where a recurrent layer takes the batch of an input for its time, that input has its batch behind: an error, and
  // another run.
  Result<void> move_batch(std::string_view name, const Arguments& arguments);
  // Likewise where an input of unknown elements turns out to be token ids, however they are reshaped.
  Result<void> tell_integers(std::string_view name, const Arguments& arguments);
  Result<void> add_outputs(const Item& item, std::size_t depth);

  // modules.cpp
  Result<Item> object(PickleFile file, PickleId id, const std::string& path, std::size_t depth);
  Result<Item> attribute(const ObjectRef& ref, std::string_view name);
  Result<Item> weight(PickleFile file, const PickleTensor& tensor, const std::string& path, bool buffer);
  Result<Item> constant(std::string_view name);
  Result<std::optional<Item>> class_constant(const ClassRef& type, std::string_view name);
  Result<ClassRef> class_named(std::string_view qualified_name);
  Result<Item> construct(const ClassRef& type, Arguments arguments);
  Result<Item> call_method(const ObjectRef& ref, std::string_view name, Arguments arguments);

  // statements.cpp
  Result<Item> call_function(const FunctionRef& ref, Arguments arguments, std::string_view path);
  Result<std::optional<Item>> run_block(std::span<const Statement> block, Frame& frame);
  Result<std::optional<Item>> run_statement(const Statement& statement, Frame& frame);
  Result<std::optional<Item>> run_if(const Statement& statement, Frame& frame);
  Result<std::optional<Item>> run_while(const Statement& statement, Frame& frame);
  Result<std::optional<Item>> run_for(const Statement& statement, Frame& frame);
  Result<void> assign(const Statement& statement, Frame& frame);
  Result<void> assign_to(ExprId target, Item item, Frame& frame);
  Result<std::vector<Item>> unpacked(const Item& item, std::size_t count);

  // expressions.cpp
  Result<Item> evaluate(ExprId id, Frame& frame);
  Result<Item> evaluate_call(const Expr& expr, Frame& frame, std::span<const ExprId> targets);
  Result<Item> evaluate_operator(const Expr& expr, Frame& frame);
  Result<Item> evaluate_subscript(const Expr& expr, Frame& frame);
  Result<Item> archived(const std::string& name);
  Result<Item> evaluate_attribute(const Expr& expr, Frame& frame);
  Result<Item> evaluate_list(const Expr& expr, Frame& frame);
  Result<Item> named(const Expr& expr, const Frame& frame);
  Result<Arguments> arguments_of(const Expr& call, Frame& frame);
  Result<Item> call_named(std::string_view name, const Arguments& arguments, Frame& frame,
                          std::span<const ExprId> targets);
  Result<Item> call_builtin(std::string_view name, const Arguments& arguments, Frame& frame,
                            std::span<const ExprId> targets);
  void add_values(const Item& item, std::vector<ValueId>& out) const;
  Result<Item> item_at(const Item& list, const Item& index);
  std::optional<std::string> dotted_name(const Expr& expr, const Frame& frame) const;

  // scalars.cpp
  Result<std::optional<Item>> scalar_operation(std::string_view name, const Arguments& arguments);
  Item folded(ValueId id);
  // Of each of the sample sizes, where the item is a number that is known then.
  [[nodiscard]] std::optional<std::array<double, kSamples>> sampled(const Item& item) const;
  // Whether a condition holds; nothing where that depends on sizes or data.
  [[nodiscard]] std::optional<bool> truth(const Item& item) const;
  [[nodiscard]] Item compared(std::string_view op, const Item& a, const Item& b) const;

  // operators.cpp
  Result<Item> call_operator(std::string_view name, const Arguments& arguments, std::size_t outputs,
                             std::span<const ExprId> targets, const Frame* frame);
  [[nodiscard]] bool lacks_shape(const Cell& cell, std::string_view reader) const;
  Result<aten::Argument> argument(const Item& item, std::string_view parameter);
  Result<void> set_arguments(aten::Call& call, const Arguments& arguments);
  Result<std::vector<ValueId>> lower(std::string_view name, std::string_view overload, const Arguments& arguments,
                                     std::vector<aten::Output> outputs);
  void follow_types(std::size_t first_value, std::size_t first_node);
  Result<void> mutate(std::uint32_t cell, ValueId value);
  Result<ValueId> written_back(const View& view, ValueId base, ValueId value);
  void remember_view(std::uint32_t cell, std::string_view name, const Arguments& arguments);
  std::string fresh_name(std::string_view base);
  Result<Item> materialize(const PendingRef& ref, std::size_t count);
  [[nodiscard]] std::optional<std::size_t> count_of(const Pending& pending) const;
  [[nodiscard]] ValueId value_of(const TensorRef& ref) const { return cells_[ref.cell].value; }

  Item new_list(ListKind kind, std::vector<Item> items);
  Item new_tensor(ValueId id);
  [[nodiscard]] List* list_of(const Item& item);
  [[nodiscard]] const List* list_of(const Item& item) const;
  void note(std::string text) { notes_.insert(std::move(text)); }
  Result<void> count_step();

  // What the code nests, this program's stack has to hold.
  static constexpr std::size_t kMaxNesting = 600;
  class Nested {
   public:
    explicit Nested(std::size_t& count) : count_(count) { ++count_; }
    ~Nested() { --count_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    [[nodiscard]] bool too_deep() const { return count_ > kMaxNesting; }

   private:
    std::size_t& count_;
  };

  Archive& archive_;
  InputHints& hints_;
  const InputShapes& asked_;
  bool fixed_;
  bool hinted_ = false;
  OpenSizes open_sizes_;
  GraphBuilder builder_;
  Samples samples_;
  std::pmr::monotonic_buffer_resource memory_;  // of what is only ever added to
  std::deque<List> lists_;
  std::deque<Instance> instances_;
  std::deque<Cell> cells_;
  std::deque<Pending> pendings_;
  std::pmr::map<PickleId, std::uint32_t> objects_{&memory_};  // of data.pkl
  // Tensors that lie at the same place are the same weight: its cell.
  struct ByPlace {
    bool operator()(const PickleTensor* a, const PickleTensor* b) const;
  };
  using Weights = std::pmr::map<const PickleTensor*, std::uint32_t, ByPlace>;
  std::array<Weights, 3> weights_{Weights(&memory_), Weights(&memory_), Weights(&memory_)};  // of each PickleFile
  std::map<std::string, Item, std::less<>> constants_;
  std::pmr::map<std::pmr::string, ClassRef, std::less<>> classes_{&memory_};
  std::map<std::pair<std::uint32_t, std::int64_t>, Item> extents_;  // of a value's axis
  std::unordered_map<std::string, std::size_t> names_;
  std::set<std::string> notes_;
  std::vector<GuessedShape> guessed_;
  std::string_view path_;  // of the module that runs
  std::size_t steps_ = 0;
  std::size_t depth_ = 0;      // of calls
  std::size_t nesting_ = 0;    // of expressions and blocks, over all calls
  bool error_placed_ = false;  // the file and line of an error were said already
};

}  // namespace joulecast::torchscript
