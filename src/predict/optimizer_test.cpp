// SPDX-License-Identifier: Apache-2.0
#include "predict/optimizer.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

// By hand, from torch.optim's code and TensorFlow's kernels.
TEST(Optimizer, MovesWhatItsKernelsReadAndWrite) {
  const auto passes = [](Optimizer optimizer, Runtime runtime) { return optimizer_passes(optimizer, runtime); };
  EXPECT_EQ(passes(Optimizer::kSgd, Runtime::kPytorchEager), 3);
  EXPECT_EQ(passes(Optimizer::kSgdMomentum, Runtime::kPytorchEager), 2 + 3 + 3);
  EXPECT_EQ(passes(Optimizer::kAdam, Runtime::kPytorchEager), 3 + 2 + 3 + 2 + 2 + 2 + 4);
  EXPECT_EQ(passes(Optimizer::kAdam, Runtime::kPytorchCompiled), 18);  // the step is not compiled
  EXPECT_EQ(passes(Optimizer::kSgd, Runtime::kTensorflow), 3);
  EXPECT_EQ(passes(Optimizer::kSgdMomentum, Runtime::kTensorflow), 3 + 3);
  EXPECT_EQ(passes(Optimizer::kAdam, Runtime::kTensorflow), 4 + 3);
  EXPECT_EQ(passes(Optimizer::kAdagrad, Runtime::kPytorchEager), 3 + 2 + 2 + 2 + 4);
  EXPECT_EQ(passes(Optimizer::kAdagrad, Runtime::kTensorflow), 3 + 4);
  EXPECT_EQ(passes(Optimizer::kRmsprop, Runtime::kPytorchEager), 2 + 3 + 2 + 2 + 4);
  EXPECT_EQ(passes(Optimizer::kRmsprop, Runtime::kTensorflow), 3 + 4 + 3);
  EXPECT_EQ(passes(Optimizer::kAdadelta, Runtime::kPytorchEager), 2 + 3 + 2 + 2 + 2 + 2 + 3 + 3 + 2 + 3 + 3);
  EXPECT_EQ(passes(Optimizer::kAdadelta, Runtime::kTensorflow), 3 + 5 + 4);
}

TEST(Optimizer, KeepsItsStatesAndWhatItsStepNeeds) {
  struct Kept {
    Optimizer optimizer;
    double states, buffers;
  };
  for (const Kept& kept :
       {Kept{Optimizer::kSgd, 0, 0}, Kept{Optimizer::kSgdMomentum, 1, 0}, Kept{Optimizer::kAdam, 2, 1},
        Kept{Optimizer::kAdagrad, 1, 2}, Kept{Optimizer::kRmsprop, 1, 1}, Kept{Optimizer::kAdadelta, 2, 2}}) {
    EXPECT_EQ(optimizer_states(kept.optimizer), kept.states) << name(kept.optimizer);
    EXPECT_EQ(optimizer_buffers(kept.optimizer, Runtime::kPytorchEager), kept.buffers) << name(kept.optimizer);
  }
}

// Nothing less than reading parameter, gradient and states and writing parameter and states.
TEST(Optimizer, MovesAtLeastWhatItKeeps) {
  for (const char* word : {"sgd", "sgd-momentum", "adam", "adagrad", "rmsprop", "adadelta"}) {
    const auto optimizer = parse_optimizer(word);
    ASSERT_TRUE(optimizer) << word;
    EXPECT_EQ(name(*optimizer), word);
    for (const Runtime runtime : {Runtime::kPytorchEager, Runtime::kTensorflow})
      EXPECT_GE(optimizer_passes(*optimizer, runtime), 3 + 2 * optimizer_states(*optimizer)) << word;
    EXPECT_EQ(optimizer_buffers(*optimizer, Runtime::kTensorflow), 0) << word;
  }
  EXPECT_FALSE(parse_optimizer("SGD"));
}

}  // namespace
}  // namespace joulecast
