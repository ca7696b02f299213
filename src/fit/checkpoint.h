// SPDX-License-Identifier: Apache-2.0
// The finished pieces of a training, kept beside the pack until that is written: who is interrupted need not fit them
// again.
//
//   Checkpoint checkpoint("my.jcpack", progress);
//   JC_ASSIGN_OR_RETURN(Piece piece, checkpoint.piece("conv", key, [&] { return fit_it(); }));
//   ...
//   checkpoint.remove();  // once the pack is there
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fit/progress.h"
#include "joulecast/result.h"
#include "predict/pack/pack.h"
#include "predict/pack/writer.h"

namespace joulecast {

// A piece has the form of a pack: its sums tell damage, and a forest goes from it into the pack as it is.
struct Piece {
  std::vector<std::byte> bytes;  // what `pack` looks at, unless a file is mapped
  Pack pack;
  bool kept_before = false;
};

// Of a piece that is only in memory. Errors: those of Pack::over().
Result<Piece> piece_of(const PackWriter& made);

class Checkpoint {
 public:
  // In the folder `<out>.checkpoint`, made when the first piece is kept.
  Checkpoint(const std::string& out, Progress progress);

  // The piece that an earlier run kept under this name and key, or what `make` gives, kept for the next run. What is
  // damaged or was kept under another key is said and not used; that it cannot be kept is said and no error.
  // Errors: those of `make`.
  using Make = std::function<Result<PackWriter>()>;
  Result<Piece> piece(const std::string& name, std::uint64_t key, const Make& make);

  // Removes the pieces, and the folder if nothing else is in it.
  void remove();

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const;
  [[nodiscard]] Result<Pack> kept(const std::string& path, std::uint64_t key) const;
  void keep(const std::string& path, const PackWriter& piece);

  std::string folder_;
  Progress progress_;
  bool cannot_keep_ = false;
};

// Gathers what a piece depends on. Values are taken as their bytes, so what has gaps between members must come
// piecemeal.
class ContentKey {
 public:
  void add(std::string_view text);
  void add(double number) { add_bytes(&number, sizeof(number)); }
  void add(std::span<const float> numbers) { add_bytes(numbers.data(), numbers.size_bytes()); }
  void add(std::span<const double> numbers) { add_bytes(numbers.data(), numbers.size_bytes()); }
  // Of this very program: another one may fit otherwise.
  void add_program();
  [[nodiscard]] std::uint64_t value() const;

 private:
  void add_bytes(const void* data, std::size_t size);

  std::vector<std::byte> bytes_;
};

}  // namespace joulecast
