// SPDX-License-Identifier: Apache-2.0
#include "predict/trees/xgboost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

namespace joulecast {
namespace {

using nlohmann::json;

// Objectives whose output is the sum itself; of the others the base score is not in units of the leaves.
constexpr std::array<std::string_view, 4> kPlainObjectives = {"reg:squarederror", "reg:pseudohubererror",
                                                              "reg:absoluteerror", "reg:quantileerror"};

const json* find(const json& at, std::initializer_list<const char*> path) {
  const json* here = &at;
  for (const char* key : path) {
    if (!here->is_object() || !here->contains(key)) return nullptr;
    here = &(*here)[key];
  }
  return here;
}

std::string text_at(const json& at, std::initializer_list<const char*> path) {
  const json* found = find(at, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

Result<const json*> array_at(const json& at, const char* key) {
  const json* found = find(at, {key});
  if (found == nullptr || !found->is_array()) return invalid(fmt::format("has no list '{}'", key));
  return found;
}

Result<float> parse_float(const std::string& text, std::string_view what) {
  float value = 0.0F;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return invalid(fmt::format("{} is '{}', not a number", what, text));
  }
  return value;
}

// Entry i of a list of numbers or booleans (1.x writes default_left as 0 and 1, others as false and true).
Result<double> entry(const json& list, std::size_t i, std::string_view what) {
  if (i >= list.size()) return invalid(fmt::format("'{}' ends at entry {}", what, list.size()));
  const json& value = list[i];
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (!value.is_number()) return invalid(fmt::format("'{}': entry {} is not a number", what, i));
  return value.get<double>();
}

Result<std::uint32_t> index_entry(const json& list, std::size_t i, std::string_view what) {
  JC_ASSIGN_OR_RETURN(const double value, entry(list, i, what));
  if (value < 0 || value > 1e9) return invalid(fmt::format("'{}': entry {} is {}", what, i, value));
  return static_cast<std::uint32_t>(value);
}

struct TreeLists {
  const json *left, *right, *feature, *value, *default_left;
};

Result<TreeNode> read_node(const TreeLists& lists, std::size_t i) {
  TreeNode node;
  JC_ASSIGN_OR_RETURN(const double value, entry(*lists.value, i, "split_conditions"));
  node.value = static_cast<float>(value);
  JC_ASSIGN_OR_RETURN(const double left, entry(*lists.left, i, "left_children"));
  if (left == -1.0) return node;
  JC_ASSIGN_OR_RETURN(node.left, index_entry(*lists.left, i, "left_children"));
  JC_ASSIGN_OR_RETURN(node.right, index_entry(*lists.right, i, "right_children"));
  JC_ASSIGN_OR_RETURN(node.feature, index_entry(*lists.feature, i, "split_indices"));
  JC_ASSIGN_OR_RETURN(const double default_left, entry(*lists.default_left, i, "default_left"));
  node.default_left = default_left != 0.0;
  if (node.left == 0) return invalid(fmt::format("node {} leads back to the root", i));
  return node;
}

Result<Tree> read_tree(const json& source) {
  if (const json* categories = find(source, {"categories"}); categories != nullptr && !categories->empty()) {
    return unsupported("splits by category");
  }
  TreeLists lists{};
  JC_ASSIGN_OR_RETURN(lists.left, array_at(source, "left_children"));
  JC_ASSIGN_OR_RETURN(lists.right, array_at(source, "right_children"));
  JC_ASSIGN_OR_RETURN(lists.feature, array_at(source, "split_indices"));
  JC_ASSIGN_OR_RETURN(lists.value, array_at(source, "split_conditions"));
  JC_ASSIGN_OR_RETURN(lists.default_left, array_at(source, "default_left"));
  Tree tree;
  for (std::size_t i = 0; i < lists.left->size(); ++i) {
    JC_ASSIGN_OR_RETURN(const TreeNode node, read_node(lists, i));
    tree.nodes.push_back(node);
  }
  return tree;
}

// Pruning leaves deleted nodes and children before parents in XGBoost's lists: numbers the reachable ones anew,
// breadth first. A node reached twice would make it no tree.
Result<Tree> renumber(const Tree& raw) {
  if (raw.nodes.empty()) return invalid("has no node");
  std::vector<std::uint32_t> order = {0};
  std::vector<bool> reached(raw.nodes.size(), false);
  Tree tree;
  for (std::size_t i = 0; i < order.size(); ++i) {
    TreeNode node = raw.nodes[order[i]];
    if (node.left != 0) {
      for (std::uint32_t* child : {&node.left, &node.right}) {
        if (*child >= raw.nodes.size() || *child == 0 || reached[*child]) {
          return invalid(fmt::format("node {} has child {}", order[i], *child));
        }
        reached[*child] = true;
        order.push_back(*child);
        *child = static_cast<std::uint32_t>(order.size() - 1);
      }
    }
    tree.nodes.push_back(node);
  }
  return tree;
}

Result<void> check_kind(const json& learner) {
  const std::string booster = text_at(learner, {"gradient_booster", "name"});
  if (booster != "gbtree") return unsupported(fmt::format("booster '{}'; only gbtree is read", booster));
  const std::string objective = text_at(learner, {"objective", "name"});
  if (std::find(kPlainObjectives.begin(), kPlainObjectives.end(), objective) == kPlainObjectives.end()) {
    return unsupported(fmt::format("objective '{}' has a link function", objective));
  }
  const std::string classes = text_at(learner, {"learner_model_param", "num_class"});
  const std::string targets = text_at(learner, {"learner_model_param", "num_target"});
  if ((!classes.empty() && classes != "0") || (!targets.empty() && targets != "1")) {
    return unsupported("the model has several outputs");
  }
  return {};
}

Result<std::vector<std::string>> feature_names(const json& learner) {
  std::vector<std::string> names;
  if (const json* list = find(learner, {"feature_names"}); list != nullptr && list->is_array()) {
    for (const json& name : *list) {
      if (!name.is_string()) return invalid("a feature name is not a text");
      names.push_back(name.get<std::string>());
    }
  }
  if (!names.empty()) return names;
  const std::string count = text_at(learner, {"learner_model_param", "num_feature"});
  JC_ASSIGN_OR_RETURN(const float features, parse_float(count, "num_feature"));
  if (!(features >= 1.0F && features <= static_cast<float>(kMaxForestFeatures))) {
    return invalid(fmt::format("the model has {} features", count));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(features); ++i) names.push_back(fmt::format("f{}", i));
  return names;
}

}  // namespace

Result<Forest> forest_from_xgboost(std::string_view text) {
  const json model = json::parse(text, nullptr, false);
  const json* learner = find(model, {"learner"});
  const json* trees = find(model, {"learner", "gradient_booster", "model", "trees"});
  if (model.is_discarded() || learner == nullptr) return invalid("not a model saved by XGBoost as JSON");
  JC_RETURN_IF_ERROR(check_kind(*learner));
  if (trees == nullptr || !trees->is_array()) return invalid("the model has no trees");
  Forest forest;
  JC_ASSIGN_OR_RETURN(forest.features, feature_names(*learner));
  JC_ASSIGN_OR_RETURN(forest.base, parse_float(text_at(*learner, {"learner_model_param", "base_score"}), "base_score"));
  for (std::size_t i = 0; i < trees->size(); ++i) {
    auto tree = read_tree((*trees)[i]).and_then(renumber);
    if (!tree) return tl::unexpected(std::move(tree).error().in(fmt::format("tree {}", i)));
    forest.trees.push_back(std::move(*tree));
  }
  JC_RETURN_IF_ERROR(validate(forest));
  return forest;
}

}  // namespace joulecast
