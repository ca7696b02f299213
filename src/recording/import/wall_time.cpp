// SPDX-License-Identifier: Apache-2.0
#include "recording/import/wall_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace joulecast {
namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kLargestOffset = 18 * kHour;  // as ISO 8601's readers have it

// Takes text off its front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  // So many digits, no sign.
  std::optional<int> digits(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    int value = 0;
    for (const char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  std::optional<char> one_of(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) return std::nullopt;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  // The digits behind the point of a second, as microseconds.
  std::optional<std::int64_t> fraction() {
    const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (count == 0 || count > 9) return std::nullopt;
    std::int64_t value = 0;
    for (std::size_t i = 0; i < 6; ++i) value = value * 10 + (i < count ? rest_[i] - '0' : 0);
    rest_.remove_prefix(count);
    return value;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

std::optional<std::int64_t> date(Scanner& in) {
  const auto year = in.digits(4);
  const auto first = in.one_of("/-");
  const auto month = in.digits(2);
  const auto second = in.one_of("/-");
  const auto day = in.digits(2);
  if (!year || !month || !day || !first || first != second) return std::nullopt;
  const std::chrono::year_month_day ymd{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                        std::chrono::day{static_cast<unsigned>(*day)}};
  if (!ymd.ok()) return std::nullopt;
  return std::chrono::sys_days(ymd).time_since_epoch().count() * 24 * kHour;
}

std::optional<std::int64_t> time_of_day(Scanner& in) {
  const auto hour = in.digits(2);
  const auto first = in.one_of(":");
  const auto minute = in.digits(2);
  const auto second_colon = in.one_of(":");
  const auto second = in.digits(2);
  if (!hour || !minute || !second || !first || !second_colon) return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  std::int64_t out = *hour * kHour + *minute * kMinute + *second * kSecond;
  if (in.one_of(".,")) {
    const auto fraction = in.fraction();
    if (!fraction) return std::nullopt;
    out += *fraction;
  }
  return out;
}

}  // namespace

std::optional<WallTime> parse_wall_time(std::string_view text) {
  Scanner in(text);
  const auto day = date(in);
  if (!day || !in.one_of(" T")) return std::nullopt;
  const auto time = time_of_day(in);
  if (!time) return std::nullopt;
  if (in.rest().empty()) return WallTime{*day + *time, false};
  const auto offset = parse_utc_offset(in.rest());
  if (!offset) return std::nullopt;
  return WallTime{*day + *time - *offset, true};
}

std::optional<std::int64_t> parse_utc_offset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  Scanner in(text);
  const auto sign = in.one_of("+-");
  const auto hours = in.digits(2);
  (void)in.one_of(":");
  const auto minutes = in.digits(2);
  if (!sign || !hours || !minutes || *minutes > 59 || !in.rest().empty()) return std::nullopt;
  const std::int64_t out = *hours * kHour + *minutes * kMinute;
  if (out > kLargestOffset) return std::nullopt;
  return *sign == '-' ? -out : out;
}

std::string utc_offset_text(std::int64_t us) {
  const std::int64_t size = us < 0 ? -us : us;
  return fmt::format("{}{:02}:{:02}", us < 0 ? '-' : '+', size / kHour, size % kHour / kMinute);
}

std::string utc_text(std::int64_t us) {
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::microseconds> time{std::chrono::microseconds{us}};
  const auto days = floor<std::chrono::days>(time);
  const std::chrono::year_month_day ymd{days};
  const std::chrono::hh_mm_ss clock{time - days};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

}  // namespace joulecast
