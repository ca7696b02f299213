// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "import/tensorflow/attribute_writer.h"
#include "import/tensorflow/importer.h"
#include "import/tensorflow/loop_roles.h"

namespace joulecast::tensorflow {
namespace {

constexpr std::size_t kMaxSteps = 4'000'000;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// What goes around: its value before the loop, in it, and after a round.
struct Variable {
  std::size_t enter = kNone, merge = kNone, next = kNone;
};

struct Frame {
  std::vector<Variable> variables;
  std::set<std::size_t> constants;  // Enters that are no variable's, of those that condition and body read
  std::size_t condition = kNone;    // the LoopCond
  bool raised = false, strange = false;
};

// A part of the graph that runs in a frame, cut off at its variables and constants.
struct Part {
  std::vector<std::size_t> nodes;
  bool whole = true;  // all of it is there, and no other frame lies in it
};

class Raiser {
 public:
  Raiser(GraphView& graph, std::deque<std::string>& texts) : graph_(graph), texts_(texts) {}

  Result<void> run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) places_.emplace(graph_.nodes[i].name, i);
    JC_RETURN_IF_ERROR(find_enters());
    if (frames_.empty()) return {};
    find_variables();
    find_conditions();
    for (bool progress = true; progress;) {
      progress = false;
      for (auto& [name, frame] : frames_) {
        if (frame.raised || frame.strange) continue;
        JC_ASSIGN_OR_RETURN(frame.raised, raise(frame));
        progress = progress || frame.raised;
      }
    }
    return {};
  }

 private:
  // The place of the node that an input names; kNone for control inputs and names of nothing.
  [[nodiscard]] std::size_t place_of(std::string_view input) const {
    if (input.starts_with('^')) return kNone;
    const auto it = places_.find(input.substr(0, input.find(':')));
    return it == places_.end() ? kNone : it->second;
  }
  [[nodiscard]] std::size_t input_of(std::size_t node, std::size_t i) const {
    const auto& inputs = graph_.nodes[node].inputs;
    return i < inputs.size() ? place_of(inputs[i]) : kNone;
  }
  [[nodiscard]] bool is(std::size_t node, std::string_view op) const {
    return node != kNone && graph_.nodes[node].op == op;
  }

  Result<void> find_enters() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!is(i, "Enter")) continue;
      for (const AttributeView& attribute : graph_.nodes[i].attributes) {
        if (attribute.name != "frame_name") continue;
        JC_ASSIGN_OR_RETURN(const AttributeValue value, read_attribute(attribute.value));
        frame_of_[i] = &frames_[value.string];
      }
    }
    return {};
  }

  // A Merge of what enters and what comes back.
  void find_variables() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!is(i, "Merge")) continue;
      Variable variable{input_of(i, 0), i, input_of(i, 1)};
      if (is(variable.next, "Enter")) std::swap(variable.enter, variable.next);
      const auto frame = frame_of_.find(variable.enter);
      if (frame == frame_of_.end() || !is(variable.next, "NextIteration")) continue;
      frame_of_[i] = frame_of_[variable.next] = frame->second;
      frame->second->variables.push_back(variable);
    }
  }

  // A Switch sends a variable into the body, or out of the loop, as one LoopCond says.
  void find_conditions() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!is(i, "Switch")) continue;
      const std::size_t merge = input_of(i, 0), condition = input_of(i, 1);
      const auto frame = frame_of_.find(merge);
      if (frame == frame_of_.end() || !is(merge, "Merge") || !is(condition, "LoopCond")) continue;
      frame_of_[i] = frame_of_[condition] = frame->second;
      switched_[i] = merge;
      std::size_t& known = frame->second->condition;
      frame->second->strange = frame->second->strange || (known != kNone && known != condition);
      known = condition;
    }
  }

  [[nodiscard]] bool stops(std::size_t node, const Frame& frame) const {
    const auto of = frame_of_.find(node);
    if (of == frame_of_.end() || of->second != &frame) return false;
    return is(node, "Enter") || is(node, "Merge") || is(node, "Switch");
  }

  // What the tensors that `roots` name are made of.
  Result<Part> part(const std::vector<std::string_view>& roots, Frame& frame) {
    Part out;
    std::unordered_set<std::size_t> seen;
    const auto visit = [&](std::string_view input) {
      const std::size_t node = place_of(input);
      out.whole = out.whole && (node != kNone || input.starts_with('^'));
      if (node == kNone || !seen.insert(node).second) return;
      if (stops(node, frame)) {
        if (is(node, "Enter")) frame.constants.insert(node);
        return;
      }
      out.whole = out.whole && !frame_of_.contains(node);
      out.nodes.push_back(node);
    };
    for (const std::string_view root : roots) visit(root);
    for (std::size_t i = 0; i < out.nodes.size() && out.whole; ++i) {
      const auto& inputs = graph_.nodes[out.nodes[i]].inputs;
      steps_ += 1 + inputs.size();
      if (steps_ > kMaxSteps) return unsupported("loops of the graph lie in more loops than those of any real model");
      for (const std::string_view input : inputs) visit(input);
    }
    std::sort(out.nodes.begin(), out.nodes.end());
    return out;
  }

  // The frame's own name of what a node of it reads: a variable is what its Merge gives.
  [[nodiscard]] std::string_view renamed(std::string_view input) const {
    const std::size_t node = place_of(input);
    if (const auto it = switched_.find(node); it != switched_.end()) return graph_.nodes[it->second].name;
    return is(node, "Merge") || is(node, "Enter") ? graph_.nodes[node].name : input;
  }

  [[nodiscard]] std::vector<NodeView> copied(const Part& part) const {
    std::vector<NodeView> out;
    for (const std::size_t place : part.nodes) {
      NodeView node = graph_.nodes[place];
      std::erase_if(node.inputs, [](std::string_view input) { return input.starts_with('^'); });
      for (std::string_view& input : node.inputs) input = renamed(input);
      out.push_back(std::move(node));
    }
    return out;
  }

  // False where the frame is not, or not yet, one that can be raised.
  Result<bool> raise(Frame& frame) {
    frame.strange = frame.strange || frame.condition == kNone || frame.variables.empty();
    if (frame.strange || graph_.nodes[frame.condition].inputs.empty()) return false;
    const std::string_view holds = graph_.nodes[frame.condition].inputs[0];
    std::vector<std::string_view> rounds;
    for (const Variable& variable : frame.variables) {
      const auto& inputs = graph_.nodes[variable.next].inputs;
      if (inputs.empty() || graph_.nodes[variable.enter].inputs.empty()) return false;
      rounds.push_back(inputs[0]);
    }
    JC_ASSIGN_OR_RETURN(const Part condition, part({holds}, frame));
    JC_ASSIGN_OR_RETURN(const Part body, part(rounds, frame));
    const auto fed = [&](std::size_t enter) { return !graph_.nodes[enter].inputs.empty(); };
    if (!condition.whole || !body.whole || !std::all_of(frame.constants.begin(), frame.constants.end(), fed))
      return false;
    FunctionView holding = condition_of(frame, condition, holds), round = body_of(frame, body, rounds);
    frame.strange = !loop_limit(holding, loop_roles(round));
    if (frame.strange) return false;
    add_while(frame, holding.name, round.name);
    graph_.functions.push_back(std::move(holding));
    graph_.functions.push_back(std::move(round));
    return true;
  }

  std::string_view kept(std::string text) { return texts_.emplace_back(std::move(text)); }

  // Takes the variables, then what is constant.
  FunctionView function_of(const Frame& frame, std::string_view what) {
    FunctionView out;
    out.name = kept(fmt::format("{}/{}", graph_.nodes[frame.condition].name, what));
    for (const Variable& variable : frame.variables)
      out.inputs.push_back({graph_.nodes[variable.merge].name, 0, {}, {}});
    for (const std::size_t enter : frame.constants) out.inputs.push_back({graph_.nodes[enter].name, 0, {}, {}});
    return out;
  }

  FunctionView condition_of(const Frame& frame, const Part& part, std::string_view holds) {
    FunctionView out = function_of(frame, "cond");
    out.nodes = copied(part);
    out.outputs.push_back({"holds", 0, {}, {}});
    out.returns.emplace_back("holds", renamed(holds));
    return out;
  }

  FunctionView body_of(const Frame& frame, const Part& part, const std::vector<std::string_view>& rounds) {
    FunctionView out = function_of(frame, "body");
    out.nodes = copied(part);
    out.outputs = out.inputs;
    for (std::size_t i = 0; i < out.outputs.size(); ++i) {
      const std::string_view name = out.outputs[i].name;
      out.returns.emplace_back(name, i < rounds.size() ? renamed(rounds[i]) : name);
    }
    return out;
  }

  // It takes the place of the LoopCond, which nothing outside of the frame reads, and each Exit gives one of its
  // outputs.
  void add_while(const Frame& frame, std::string_view condition, std::string_view body) {
    std::unordered_map<std::size_t, std::size_t> outputs;  // by Merge
    std::vector<std::string_view> inputs;
    for (const Variable& variable : frame.variables) {
      outputs.emplace(variable.merge, outputs.size());
      inputs.push_back(graph_.nodes[variable.enter].inputs[0]);
    }
    for (const std::size_t enter : frame.constants) inputs.push_back(graph_.nodes[enter].inputs[0]);
    NodeView& made = graph_.nodes[frame.condition];
    made.op = "While";
    made.inputs = std::move(inputs);
    made.attributes = Attributes().function("cond", condition).function("body", body).written_to(texts_);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto merge = is(i, "Exit") ? switched_.find(input_of(i, 0)) : switched_.end();
      if (merge == switched_.end()) continue;
      const auto output = outputs.find(merge->second);
      if (output == outputs.end()) continue;
      graph_.nodes[i].op = "Identity";
      graph_.nodes[i].inputs = {kept(fmt::format("{}:{}", made.name, output->second))};
    }
    frame_of_.erase(frame.condition);
  }

  GraphView& graph_;
  std::deque<std::string>& texts_;
  std::unordered_map<std::string_view, std::size_t> places_;
  std::map<std::string_view, Frame> frames_;
  std::unordered_map<std::size_t, Frame*> frame_of_;       // of its nodes but for those of condition and body
  std::unordered_map<std::size_t, std::size_t> switched_;  // Switch -> Merge
  std::size_t steps_ = 0;
};

}  // namespace

Result<void> raise_frames(GraphView& graph, std::deque<std::string>& texts) {
  return Raiser(graph, texts).run();
}

}  // namespace joulecast::tensorflow
