// SPDX-License-Identifier: Apache-2.0
#include "dataset/cautions.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace joulecast {
namespace {

// By name. docs/formats/cautions.md has this table too; a test compares them.
constexpr std::array kCautions{
    Caution{"ambiguous", Spoils::kAll, "several different results were published under the same name"},
    Caution{"capped-clock", Spoils::kNothing,
            "power is at the limit, so the clock was lower than asked for and power says little"},
    Caution{"censored-memory", Spoils::kMemory, "it is only known that it fitted, or that it did not"},
    Caution{"coarse-clock", Spoils::kTime, "the time is a few steps of its clock"},
    Caution{"coarse-meter", Spoils::kPower, "the energy is a few steps of its meter"},
    Caution{"coarse-print", Spoils::kNothing, "the value was printed with few digits"},
    Caution{"energy-over-other-window", Spoils::kPower,
            "the energy was taken over another window than the time: use time x power"},
    Caution{"faster-than-peak", Spoils::kTimeAndPower, "more than 1.05 times the arithmetic the chip can do"},
    Caution{"few-iterations", Spoils::kTime, "too few iterations: the first call weighs in"},
    Caution{"gpu-guessed", Spoils::kNothing, "the source does not name the GPU exactly"},
    Caution{"gpu-not-stated", Spoils::kAll, "the source does not name the GPU"},
    Caution{"host-bound", Spoils::kNothing, "the time is the host's: the GPU waited"},
    Caution{"hot-l2", Spoils::kNothing, "the weights stayed in the L2 cache between calls"},
    Caution{"input-bound", Spoils::kAll, "the GPU waited for its input most of the time"},
    Caution{"low-power-state", Spoils::kTimeAndPower, "the GPU was in a state of lower power that no log names"},
    Caution{"memory-kind-unknown", Spoils::kMemory, "which memory was read is not stated"},
    Caution{"not-a-peak", Spoils::kMemory, "memory after the run, not its peak"},
    Caution{"other-conditions", Spoils::kNothing, "the same kernels run slower here than in the rest of the table"},
    Caution{"other-kernels", Spoils::kTimeAndPower, "other kernels than the rest of the table"},
    Caution{"out-of-memory", Spoils::kNothing, "it did not fit"},
    Caution{"power-refused", Spoils::kNothing,
            "a power or energy was published and left out: its sensor could not have seen it"},
    Caution{"power-unsteady", Spoils::kPower, "the power readings scatter by more than 15 %"},
    Caution{"power-window-mismatch", Spoils::kPower, "the power log does not cover the timed blocks"},
    Caution{"power-window-short", Spoils::kPower, "the run is shorter than what the power sensor averages over"},
    Caution{"replicas", Spoils::kNothing, "memory holds what several GPUs training together need beside the network"},
    Caution{"rising-overhead", Spoils::kNothing,
            "what the harness took more than at its first row, told by the order of the rows, is taken off the time"},
    Caution{"shared-processor", Spoils::kNothing, "others had more than 5 % of the processors that were measured"},
    Caution{"start-up-included", Spoils::kTime, "the whole process was timed, its start included"},
    Caution{"throttled", Spoils::kTimeAndPower, "the chip was too hot and held its clocks down"},
    Caution{"time-unsteady", Spoils::kTime, "the times scatter by more than 10 %"},
    Caution{"typed-by-hand", Spoils::kNothing, "typed from a page or parsed from prose"},
};

constexpr bool in_order() {
  for (std::size_t i = 1; i < kCautions.size(); ++i) {
    if (!(kCautions[i - 1].word < kCautions[i].word)) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const Caution> cautions() {
  return kCautions;
}

const Caution* find_caution(std::string_view word) {
  const auto at = std::lower_bound(kCautions.begin(), kCautions.end(), word,
                                   [](const Caution& c, std::string_view w) { return c.word < w; });
  return at != kCautions.end() && at->word == word ? &*at : nullptr;
}

bool has_caution(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(",;"), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

void add_caution(std::string& list, std::string_view word) {
  JC_CHECK(find_caution(word) != nullptr, "a caution that is not in the list");
  if (has_caution(list, word)) return;
  if (!list.empty()) list += ',';
  list += word;
}

}  // namespace joulecast
