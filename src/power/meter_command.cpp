// SPDX-License-Identifier: Apache-2.0
#include "power/meter_command.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

namespace joulecast {
namespace {

constexpr std::chrono::microseconds kPeriod{1'000'000};
constexpr int kSeconds = 5;
constexpr std::size_t kMostOutput = 16'384;
constexpr double kStepsOfWatt = 1000;

// In single quotes for the shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// What the command prints; the error says how it ended otherwise.
Result<std::string> output_of(const std::string& command) {
  const std::string limited = fmt::format("exec timeout {} sh -c {} 2>/dev/null </dev/null", kSeconds, quoted(command));
  std::FILE* pipe = ::popen(limited.c_str(), "re");
  if (pipe == nullptr) return io_error("cannot start a shell");
  std::string out;
  std::array<char, 4096> part{};
  while (out.size() < kMostOutput) {
    const std::size_t size = std::fread(part.data(), 1, part.size(), pipe);
    if (size == 0) break;
    out.append(part.data(), size);
  }
  const int status = ::pclose(pipe);
  constexpr int kTimeoutCode = 124;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kTimeoutCode) {
    return tl::unexpected<Error>(Error{ErrorCode::kTimeout, fmt::format("no answer in {} s", kSeconds)});
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return io_error(fmt::format("ended with {}", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)));
  }
  return out;
}

Result<double> ask_watts(const std::string& command) {
  JC_ASSIGN_OR_RETURN(const std::string text, output_of(command));
  const auto watts = watts_in(text);
  constexpr double kMostWatts = 1e6;
  if (!watts) return invalid("prints no power that could be told from other numbers");
  if (!(*watts >= 0 && *watts < kMostWatts)) return invalid(fmt::format("prints {} W, which is no power", *watts));
  return *watts;
}

class MeterCommand : public Sensor {
 public:
  MeterCommand(const std::string& name, std::string command)
      : channels_{{name, Signal::kPower, "command", std::nullopt}}, command_(std::move(command)) {}

  [[nodiscard]] const std::vector<Channel>& channels() const override { return channels_; }
  [[nodiscard]] Lane lane() const override { return Lane::kMeter; }
  [[nodiscard]] std::chrono::microseconds period() const override { return kPeriod; }
  void read(ReadingSink& sink) override {
    const MonotonicUs before = monotonic_now();
    const auto watts = ask_watts(command_);
    const MonotonicUs time = before + (monotonic_now() - before) / 2;
    if (watts) {
      sink.reading(0, {time, std::llround(*watts * kStepsOfWatt)});
    } else {
      const bool late = watts.error().code() == ErrorCode::kTimeout;
      sink.absent(0, time, late ? Absence::kTimeout : Absence::kError, 1, watts.error().text());
    }
  }

 private:
  std::vector<Channel> channels_;
  std::string command_;
};

// Letters, digits and a few marks; not one that a GPU or a processor could have.
bool good_name(const std::string& name) {
  const bool letters = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
  return letters && !names_a_gpu(name) && !name.starts_with("cpu");
}

struct Number {
  double value = 0;
  std::size_t end = 0;  // behind its last digit
};

std::string_view word_at(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  std::size_t end = at;
  while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end])) != 0) ++end;
  return text.substr(at, end - at);
}

std::optional<double> factor(std::string_view unit) {
  if (unit == "W" || unit == "Watts" || unit == "watts" || unit == "Watt" || unit == "watt") return 1.0;
  if (unit == "mW") return 1e-3;
  if (unit == "kW") return 1e3;
  return std::nullopt;
}

bool joins(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
}

// "-7.5", "1.5e2". Words that begin with digits, such as "77h" and "0x1f", are no numbers, but "220W" is one.
std::optional<Number> next_number(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size(); ++at) {
    const bool sign =
        text[at] == '-' && at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0;
    const bool starts = sign || std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    if (!starts || (at > 0 && joins(text[at - 1]))) continue;
    Number number;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number.value);
    number.end = static_cast<std::size_t>(end - text.data());
    const bool glued = number.end < text.size() && joins(text[number.end]) && text[number.end] != '.';
    if (error == std::errc() && (!glued || factor(word_at(text, number.end)))) return number;
    while (at + 1 < text.size() && joins(text[at + 1])) ++at;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> watts_in(std::string_view text) {
  std::optional<double> only;
  std::size_t count = 0;
  for (auto number = next_number(text, 0); number; number = next_number(text, number->end)) {
    const std::string_view unit = word_at(text, number->end);
    if (const auto scale = factor(unit)) return number->value * *scale;
    only = number->value;
    ++count;
  }
  return count == 1 ? only : std::nullopt;
}

Result<Found> find_meter_commands(const SensorOptions& options) {
  Found found;
  for (std::size_t i = 0; i < options.meters.size(); ++i) {
    const std::string& meter = options.meters[i];
    const std::size_t equals = meter.find('=');
    const bool named = equals != std::string::npos && meter.find(' ') > equals;
    const std::string name = named ? meter.substr(0, equals) : fmt::format("meter{}", i);
    const std::string command = named ? meter.substr(equals + 1) : meter;
    const bool taken = std::any_of(found.devices.begin(), found.devices.end(),
                                   [&](const MeasuredDevice& one) { return one.id == name; });
    if (!good_name(name) || taken)
      return invalid(fmt::format("--meter: '{}' is no name for a meter, or not its own", name));
    if (const auto watts = ask_watts(command); !watts) {
      return invalid(fmt::format("--meter {}: {}", meter, watts.error().text()));
    }
    found.sensors.push_back(std::make_unique<MeterCommand>(name, command));
    found.devices.push_back({name, "meter", command, nlohmann::json::object()});
  }
  return found;
}

}  // namespace joulecast
