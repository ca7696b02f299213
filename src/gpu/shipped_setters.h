// SPDX-License-Identifier: Apache-2.0
// How the generated tables fill a Gpu while the compiler evaluates them: by the figure's place in for_each_figure.
#pragma once

#include <cstddef>
#include <string_view>

#include "gpu/figures.h"

namespace joulecast {

constexpr void set_text(Gpu& gpu, std::size_t figure, std::string_view text) {
  std::size_t i = 0;
  for_each_figure([&](const FigureSpec&, auto member) {
    if constexpr (kIsText<std::remove_cvref_t<decltype(gpu.*member)>>) {
      if (i == figure) gpu.*member = text;
    }
    ++i;
  });
}

constexpr void set_number(Gpu& gpu, std::size_t figure, double value) {
  std::size_t i = 0;
  for_each_figure([&](const FigureSpec&, auto member) {
    using Member = std::remove_cvref_t<decltype(gpu.*member)>;
    if constexpr (!kIsText<Member>) {
      if (i == figure) gpu.*member = typename FigureTraits<Member>::Plain(value);
    }
    ++i;
  });
}

}  // namespace joulecast
