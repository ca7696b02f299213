// SPDX-License-Identifier: Apache-2.0
#include "fit/tree_options.h"

#include <limits>

namespace joulecast {
namespace {

// Of groups whose trees carry over to GPUs that nobody measured (trust_unseen()).
BoosterOptions any_time_options(Group group) {
  switch (group) {
    case Group::kPointwise:
      return {.rounds = 64, .depth = 5, .eta = 0.2, .min_child_weight = 3};
    // What shapes make of tiles carries over from GPU to GPU, and takes deep trees to tell.
    case Group::kGemmTensor:
      return {.rounds = 256, .depth = 8, .eta = 0.15, .columns = 0.5, .min_child_weight = 20, .huber = 0.2};
    case Group::kPrefill:
    case Group::kDecode:
    case Group::kGemmFp4:
      return {.eta = 0.18, .min_child_weight = 20};
    case Group::kConv:
    case Group::kReduction:
    case Group::kGemmSimt:
      break;
  }
  return {};
}

// With the GPU known, finer leaves pay, and so does Huber's loss where a library now and then takes another kernel than
// for the neighbours of a shape: what no feature foretells is then no part of what is said of its neighbours. For GPUs
// that nobody measured, but of tensor products, it gained nothing in trials. Networks of convolutions are the ones
// whose prediction has to be quick: of groups with many rows in them as few trees as do; those with one or two are
// walked through eight trees at a time.
BoosterOptions seen_time_options(Group group) {
  switch (group) {
    case Group::kConv:
      return {.rounds = 80, .depth = 8, .eta = 0.4, .columns = 0.3, .min_child_weight = 2, .lambda = 2, .huber = 0.02};
    case Group::kPointwise:
      return {.rounds = 56, .depth = 6, .eta = 0.22, .min_child_weight = 1};
    case Group::kReduction:
      return {.rounds = 112, .depth = 7, .eta = 0.115, .min_child_weight = 1, .lambda = 1};
    case Group::kGemmSimt:
      return {.rounds = 240, .depth = 7, .eta = 0.15, .min_child_weight = 2, .lambda = 2, .huber = 0.1};
    // Hundreds of thousands of rows, of several engines: depth tells what more rounds do not. Each level doubles
    // what these groups take of the pack.
    case Group::kGemmTensor:
      return {.rounds = 800, .depth = 9, .eta = 0.4, .columns = 0.7, .min_child_weight = 1, .lambda = 2, .huber = 0.02};
    // One GPU and two engines: a third of the trees, and shallower ones, foretell as much.
    case Group::kGemmFp4:
      return {.rounds = 240, .depth = 7, .eta = 0.4, .columns = 0.7, .min_child_weight = 1, .lambda = 2, .huber = 0.02};
    case Group::kPrefill:
    case Group::kDecode:
      return {.rounds = 800, .depth = 9, .eta = 0.5, .columns = 0.7, .min_child_weight = 1, .lambda = 2, .huber = 0.01};
  }
  return {};
}

// Of tens of thousands of rows of a GPU.
BoosterOptions loops_time_options(Group group) {
  switch (group) {
    case Group::kConv:
      return {.rounds = 240, .depth = 8, .eta = 0.2, .columns = 0.4, .min_child_weight = 2, .lambda = 2, .huber = 0.02};
    case Group::kPointwise:
    case Group::kReduction:
      return {.rounds = 200, .depth = 8, .eta = 0.3, .columns = 0.6, .min_child_weight = 2, .lambda = 2, .huber = 0.02};
    case Group::kGemmSimt:
      return {.rounds = 320, .depth = 9, .eta = 0.3, .columns = 0.6, .min_child_weight = 4, .lambda = 2, .huber = 0.02};
    default:
      return seen_time_options(group);
  }
}

// Symmetric trees where they foresee operations left out better: of few operations, on few GPUs, measured as modules.
// The report of a pack tells by how much, beside that of one trained with `--estimator boosting`. Bare loops
// gained nothing in trials.
std::optional<SymmetricOptions> symmetric_time_options(Group group, Kind kind) {
  if (kind != Kind::kSeen) return std::nullopt;
  switch (group) {
    case Group::kConv:
      return SymmetricOptions{.rounds = 300, .depth = 8, .eta = 0.4, .columns = 0.3, .lambda = 8, .huber = 0.02};
    case Group::kPointwise:
      return SymmetricOptions{.rounds = 200, .depth = 7, .eta = 0.5, .columns = 0.3, .lambda = 4, .huber = 0.02};
    case Group::kReduction:
      return SymmetricOptions{.rounds = 200, .depth = 7, .eta = 0.5, .columns = 0.3, .lambda = 8, .huber = 0.02};
    case Group::kGemmSimt:
      return SymmetricOptions{.rounds = 200, .depth = 7, .eta = 0.5, .columns = 0.5, .lambda = 8, .huber = 0.03};
    default:
      return std::nullopt;
  }
}

}  // namespace

TreeOptions time_options(Group group, Kind kind) {
  if (kind == Kind::kLoops) return {loops_time_options(group)};
  return {kind == Kind::kAny ? any_time_options(group) : seen_time_options(group), symmetric_time_options(group, kind)};
}

// Where the law of convolutions is far off, a library took a kernel that nothing foretells: an A30 without tensor cores
// takes three times as long for AlexNet's images of 13 x 13 as ResNet's of 14 x 14 lead one to expect, and in trials
// its networks of families left out were a quarter less wrong in inference for learning little from it.
double doubted_at(Group group, Kind kind) {
  return group == Group::kConv && kind == Kind::kSeen ? 0.3 : std::numeric_limits<double>::infinity();
}

namespace {

// Elementwise work is simpler than matrix work: fewer and shallower trees say as much.
BoosterOptions any_power_options(Group group) {
  switch (group) {
    case Group::kPointwise:
      return {.rounds = 48, .depth = 4, .eta = 0.2, .min_child_weight = 3};
    case Group::kReduction:
      return {.rounds = 64, .depth = 5, .eta = 0.16, .min_child_weight = 3};
    case Group::kConv:
      return {.rounds = 76, .eta = 0.14, .min_child_weight = 3};
    default:
      return {.rounds = 96, .eta = 0.12, .min_child_weight = 3};
  }
}

// Where a group has few rows with power, leaves of one row are the only way to tell them apart.
BoosterOptions seen_power_options(Group group) {
  switch (group) {
    case Group::kGemmSimt:
      return {.rounds = 48, .depth = 6, .eta = 0.2, .min_child_weight = 1, .lambda = 1};
    case Group::kGemmFp4:
      return {.rounds = 160, .depth = 7, .eta = 0.4, .columns = 0.6, .min_child_weight = 2, .lambda = 2, .huber = 0.06};
    case Group::kGemmTensor:
    case Group::kPrefill:
      return {.rounds = 200, .depth = 8, .eta = 0.4, .columns = 0.6, .min_child_weight = 2, .lambda = 2, .huber = 0.03};
    case Group::kDecode:
      return {.rounds = 128, .eta = 0.2, .huber = 0.05};
    case Group::kConv:
    case Group::kPointwise:
    case Group::kReduction:
      break;
  }
  return any_power_options(group);
}

std::optional<SymmetricOptions> symmetric_power_options(Group group) {
  switch (group) {
    case Group::kConv:
      return SymmetricOptions{.rounds = 144, .depth = 6, .eta = 0.2, .columns = 0.3, .lambda = 8, .huber = 0.05};
    case Group::kPointwise:
      return SymmetricOptions{.rounds = 272, .depth = 5, .eta = 0.1, .columns = 0.3, .lambda = 8, .huber = 0.05};
    case Group::kReduction:
      return SymmetricOptions{.rounds = 200, .depth = 6, .eta = 0.2, .columns = 0.3, .lambda = 8, .huber = 0.05};
    default:
      return {};
  }
}

}  // namespace

TreeOptions power_options(Group group, Kind kind) {
  if (kind != Kind::kSeen) return {any_power_options(group)};
  return {seen_power_options(group), symmetric_power_options(group)};
}

// Of simple kernels it foretells most, and of convolutions it goes on where no row is near: families that were left out
// have tiny ones. GPUs that nobody measured gained nothing. For captured kernels it was not tried.
bool has_power_law(Group group, Kind kind) {
  return kind == Kind::kSeen && (group == Group::kConv || group == Group::kPointwise || group == Group::kReduction ||
                                 group == Group::kGemmSimt);
}

// The histograms of a level cost as much as so many rows, however few there are.
double fit_cost(std::size_t rows, const TreeOptions& options) {
  constexpr double kHistograms = 20'000.0;
  const int levels = options.symmetric ? options.symmetric->rounds * options.symmetric->depth
                                       : options.boosting.rounds * options.boosting.depth;
  return (static_cast<double>(rows) + kHistograms) * levels;
}

}  // namespace joulecast
