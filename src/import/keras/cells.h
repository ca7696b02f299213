// SPDX-License-Identifier: Apache-2.0
// Recurrent layers that run one step after the other: a loop over time around a cell.
#pragma once

#include <string_view>
#include <vector>

#include "import/keras/layer_context.h"

namespace joulecast::keras {

// The name under which layers.cpp lists the cell that a layer or cell of this class runs in each step ("LSTM":
// "LSTMCell"); empty for one that is not known.
std::string_view cell_class(std::string_view class_name);

// The cells of a StackedRNNCells, in their order.
Result<std::vector<Layer*>> stacked_cells(Layer& layer);

// How many states a cell has. Errors: kUnsupported for a cell of the model's own.
Result<std::size_t> state_count(Layer& cell);

// x [batch, time, ...], [states]. `cell` is the layer itself or one that it wraps; cell_class() knows it.
Result<void> lower_steps(LayerContext& layer, Layer& cell);

}  // namespace joulecast::keras
