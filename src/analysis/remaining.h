// SPDX-License-Identifier: Apache-2.0
// How long a training will go on and what it will take, while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "recording/event.h"

namespace joulecast {

struct StillToCome {
  double value = 0;
  // Half of the 95 % interval of what is to come, over 1.96: a standard error that knows how few epochs it is of (two
  // make it 6.5 times as wide), and what the source's steps hide. Absent for one epoch.
  std::optional<double> error;
};

// Of time or energy. `ends` is how much there had been at the end of each epoch so far, `now` how much there is now.
// The first epoch warms up: the whole is what there was at its end, and the mean of the others for each that follows
// it. Never negative. Absent until an epoch after the first has ended. `step` is how far each of them may be
// behind, evenly spread: what a counter adds at an update. Requires: ends.size() <= total.
std::optional<StillToCome> still_to_come(const std::vector<double>& ends, double now, std::size_t total,
                                         double step = 0);

struct Remaining {
  std::size_t epoch = 0, total = 0;             // the one under way, from 1, of so many
  std::optional<StillToCome> time_s, energy_j;  // no energy where the sensor shows none for the time to come
};

// Hears the marks of a run, with the energy at that moment where it is known. Of several processes that mark epochs the
// first that ends one of its own counts; until then each next one may be by another, as `joulecast mark` is. What the
// recorder begins (the next run of the command) begins anew. Not for two threads at once.
class EpochProgress {
 public:
  // Whether a mark changes anything here.
  static bool concerns(const Event& event);
  void hear(const Event& event, std::optional<double> energy_j);
  // Absent where no epoch was begun since the last training ended, and where nobody said how many there will be.
  [[nodiscard]] std::optional<Remaining> remaining(MonotonicUs now, std::optional<double> energy_j) const;

 private:
  void hear_training(const Event& event);
  void begin_epoch(const Event& event);
  void end_epoch(const Event& event, std::optional<double> energy_j);

  std::optional<std::int64_t> track_;    // who began the last epoch, else the training
  std::optional<std::int64_t> trainer_;  // who began the training
  bool settled_ = false;                 // the process ends its own epochs: no other is heard
  std::set<std::int64_t> others_;        // that began epochs while ours was open: their ends are theirs
  std::optional<std::size_t> total_;     // as the training said
  std::size_t begun_ = 0;
  bool open_ = false;
  std::vector<double> end_times_s_;
  std::vector<double> end_energies_j_;  // shorter where energy was not known at each end; then of no use
};

}  // namespace joulecast
