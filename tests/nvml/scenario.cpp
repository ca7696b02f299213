// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "defaults.h"
#include "toml_table.h"

namespace joulecast::nvml {
namespace {

constexpr double kPerMillisecond = kMillisecond;
constexpr double kPerSecond = kSecond;
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

template <typename T>
struct Word {
  const char* name;
  T value;
};

constexpr std::array kArchitectures = {
    Word<Architecture>{"kepler", Architecture::kKepler},
    Word<Architecture>{"maxwell", Architecture::kMaxwell},
    Word<Architecture>{"pascal", Architecture::kPascal},
    Word<Architecture>{"volta", Architecture::kVolta},
    Word<Architecture>{"turing", Architecture::kTuring},
    Word<Architecture>{"ampere", Architecture::kAmpere},
    Word<Architecture>{"ada", Architecture::kAda},
    Word<Architecture>{"hopper", Architecture::kHopper},
    Word<Architecture>{"blackwell", Architecture::kBlackwell},
};
constexpr std::array kMigModes = {Word<MigMode>{"unsupported", MigMode::kUnsupported},
                                  Word<MigMode>{"disabled", MigMode::kDisabled},
                                  Word<MigMode>{"enabled", MigMode::kEnabled}};
constexpr std::array kScopes = {Word<PowerScope>{"gpu", PowerScope::kGpu},
                                Word<PowerScope>{"module", PowerScope::kModule},
                                Word<PowerScope>{"memory", PowerScope::kMemory}};

template <typename Words, typename T>
void pick(Table& table, const char* key, const Words& words, const std::string& name, T& out) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& word) { return name == word.name; });
  if (found != words.end()) {
    out = found->value;
    return;
  }
  std::string known;
  for (const auto& word : words) known += fmt::format("{}{}", known.empty() ? "" : ", ", word.name);
  table.fault(key, fmt::format("'{}' is none of: {}", name, known));
}

template <typename Words, typename T>
void pick(Table& table, const char* key, const Words& words, T& out) {
  if (!table.has(key)) return;
  std::string name;
  table.text(key, name);
  pick(table, key, words, name, out);
}

template <typename T>
constexpr bool kIsNumber = (std::is_integral_v<T> && !std::is_same_v<T, char>) || std::is_enum_v<T>;
template <typename Argument>
constexpr bool kIsAnswer = std::is_pointer_v<Argument> && !std::is_same_v<Argument, Device>;

// Whether a call answers with one number, which a fault can then forge.
template <typename... Arguments>
constexpr bool answers_one_number(Return (*)(Arguments...)) {
  constexpr int kAnswers = (0 + ... + (kIsAnswer<Arguments> ? 1 : 0));
  return kAnswers == 1 && (false || ... || (kIsAnswer<Arguments> && kIsNumber<std::remove_pointer_t<Arguments>>));
}
constexpr bool answers_one_number(const char* (*)(Return)) {
  return false;
}

class Reader {
 public:
  Reader(std::string folder, std::vector<std::string>& errors) : folder_(std::move(folder)), errors_(errors) {}

  Scenario read(const toml::table& root) {
    Table table(root, "", errors_);
    table.text("driver", out_.driver);
    table.text("nvml_version", out_.nvml_version);
    table.whole("cuda_version", out_.cuda_version);
    table.flag("allow_set", out_.allow_set);
    table.each("gpu", [&](Table& gpu) { read_gpu(gpu); });
    table.each("fault", [&](Table& fault) { read_fault(fault); });
    table.finish();
    return std::move(out_);
  }

 private:
  void read_gpu(Table& table) {
    GpuSpec gpu;
    std::size_t count = 1;
    table.whole("count", count);
    table.text("name", gpu.name);
    table.text("uuid", gpu.uuid);
    table.text("serial", gpu.serial);
    table.text("bus_id", gpu.bus_id);
    table.whole("pci_device_id", gpu.pci_device_id);
    if (count > 64) return table.fault("count", "more than 64 GPUs");
    if (count > 1 && !(gpu.uuid + gpu.bus_id).empty()) table.fault("count", "GPUs with one uuid or bus_id are one GPU");
    pick(table, "architecture", kArchitectures, gpu.architecture);
    set_sensor_defaults(gpu, out_.driver);
    read_power(table, gpu);
    read_rest(table, gpu);
    for (std::size_t i = 0; i < count; ++i) {
      out_.gpus.push_back(gpu);
      complete(out_.gpus.back(), out_.gpus.size() - 1);
    }
  }

  void read_power(Table& table, GpuSpec& gpu) {
    table.scaled("default_limit_w", 1000, gpu.default_limit_mw);
    table.scaled("min_limit_w", 1000, gpu.min_limit_mw);
    table.scaled("max_limit_w", 1000, gpu.max_limit_mw);
    if (gpu.min_limit_mw > gpu.default_limit_mw || gpu.default_limit_mw > gpu.max_limit_mw) {
      table.fault("default_limit_w", "is not between min_limit_w and max_limit_w");
    }
    table.flag("limit_takes", gpu.limit_takes);
    table.number("idle_w", gpu.idle_w);
    table.number("module_extra_w", gpu.module_extra_w);
    table.number("memory_fraction", gpu.memory_fraction);
    read_scopes(table, gpu);
    table.each("load", [&](Table& load) { read_load(load, gpu.load); });
    table.each("sensor", [&](Table& sensor) { read_sensor(sensor, gpu); });
    table.each("counter", [&](Table& counter) { read_counter(counter, gpu.counter); });
    table.each("out_of_band", [&](Table& entry) {
      OutOfBandLimit limit;
      entry.scaled("at_s", kPerSecond, limit.at);
      if (entry.has("limit_w")) entry.scaled("limit_w", 1000, limit.limit_mw.emplace());
      gpu.out_of_band.push_back(limit);
    });
    std::stable_sort(gpu.out_of_band.begin(), gpu.out_of_band.end(),
                     [](const OutOfBandLimit& a, const OutOfBandLimit& b) { return a.at < b.at; });
  }

  static void read_scopes(Table& table, GpuSpec& gpu) {
    std::vector<std::string> names;
    table.texts("power_scopes", names);
    if (names.empty()) return;
    gpu.power_scopes.clear();
    for (const std::string& name : names) pick(table, "power_scopes", kScopes, name, gpu.power_scopes.emplace_back());
  }

  static void read_rest(Table& table, GpuSpec& gpu) {
    table.scaled("memory_gib", kGibibyte, gpu.memory_bytes);
    table.scaled("used_memory_gib", kGibibyte, gpu.used_memory_bytes);
    table.clocks("sm_clocks_mhz", gpu.sm_clocks_mhz);
    table.clocks("memory_clocks_mhz", gpu.memory_clocks_mhz);
    table.number("temperature_c", gpu.temperature_c);
    table.number("temperature_c_per_w", gpu.temperature_c_per_w);
    table.whole("pcie_kb_per_s", gpu.pcie_kb_per_s);
    table.flag("persistence", gpu.persistence);
    const bool capable = gpu.architecture >= Architecture::kHopper || gpu.name.find("A100") != std::string::npos;
    gpu.mig = capable ? MigMode::kDisabled : MigMode::kUnsupported;
    pick(table, "mig", kMigModes, gpu.mig);
    table.each("mig_device", [&](Table& entry) {
      MigSlice& slice = gpu.slices.emplace_back();
      entry.text("name", slice.name);
      entry.text("uuid", slice.uuid);
      entry.scaled("memory_gib", kGibibyte, slice.memory_bytes);
    });
    if (!gpu.slices.empty() && gpu.mig != MigMode::kEnabled) table.fault("mig_device", "needs mig = \"enabled\"");
  }

  void read_load(Table& table, Load& load) {
    if (table.has("constant_w") + table.has("high_w") + table.has("csv") != 1) {
      table.fault("load", "needs one of constant_w, high_w, csv");
    }
    if (table.has("constant_w")) table.number("constant_w", load.steps.emplace_back().power_w);
    if (table.has("high_w")) read_square(table, load);
    if (table.has("csv")) read_recording(table, load);
  }

  static void read_square(Table& table, Load& load) {
    double high = 0, low = 0, duty = 0.5;
    table.number("high_w", high);
    table.number("low_w", low);
    table.number("duty", duty);
    table.scaled("period_ms", kPerMillisecond, load.period);
    const auto edge = static_cast<Nanoseconds>(duty * static_cast<double>(load.period));
    if (edge <= 0 || edge >= load.period) return table.fault("duty", "needs a period_ms, and to be between 0 and 1");
    load.steps = {{0, high}, {edge, low}};
  }

  void read_recording(Table& table, Load& load) {
    std::string name;
    bool repeat = false;
    table.text("csv", name);
    table.flag("repeat", repeat);
    std::ifstream file(folder_ + "/" + name);
    if (!file) return table.fault("csv", fmt::format("cannot be read from {}", folder_));
    std::string line;
    std::getline(file, line);
    if (line != "time_s,power_w") return table.fault("csv", "its first line is not 'time_s,power_w'");
    for (std::size_t number = 2; std::getline(file, line); ++number) {
      if (!add_step(line, load)) return table.fault("csv", fmt::format("line {} is no later time and power", number));
    }
    if (load.steps.size() < 2) return table.fault("csv", "has fewer than two rows");
    // The last row says when the recording ends; its own power is never held when it repeats.
    if (repeat) load.period = load.steps.back().at;
  }

  static bool add_step(const std::string& line, Load& load) {
    double time_s = 0, power_w = 0;
    char rest = 0;
    if (std::sscanf(line.c_str(), "%lf,%lf%c", &time_s, &power_w, &rest) != 2) return false;
    if (!(time_s >= 0 && time_s < 1e9 && power_w >= 0 && power_w < 1e6)) return false;
    const auto at = static_cast<Nanoseconds>(std::llround(time_s * kPerSecond));
    if (load.steps.empty() ? at != 0 : at <= load.steps.back().at) return false;
    load.steps.push_back({at, power_w});
    return true;
  }

  static void read_sensor(Table& table, GpuSpec& gpu) {
    Sensor& sensor = gpu.sensor;
    std::string letter;
    table.text("class", letter);
    if (!letter.empty() && (letter.size() != 1 || !set_sensor_class(sensor, letter[0]))) {
      table.fault("class", "is none of: A, B, C, D, E");
    }
    table.scaled("update_ms", kPerMillisecond, sensor.update);
    table.scaled("phase_ms", kPerMillisecond, sensor.phase);
    table.scaled("window_ms", kPerMillisecond, sensor.window);
    table.scaled("rise_ms", kPerMillisecond, sensor.rise);
    table.flag("average", sensor.has_average);
    table.flag("legacy_is_average", sensor.legacy_is_average);
    table.flag("fields", sensor.has_fields);
    table.number("gain", sensor.gain);
    table.number("offset_w", sensor.offset_w);
    table.whole("ring", sensor.ring);
    if (sensor.update < kMillisecond || sensor.window < kMillisecond) table.fault("update_ms", "less than 1 ms");
    gpu.counter.update = sensor.update;
  }

  static void read_counter(Table& table, Counter& counter) {
    table.flag("present", counter.present);
    table.scaled("update_ms", kPerMillisecond, counter.update);
    table.whole("start_mj", counter.start_mj);
    table.whole("bits", counter.bits);
    if (counter.update < kMillisecond) table.fault("update_ms", "less than 1 ms");
    if (counter.bits < 8 || counter.bits > 64) table.fault("bits", "is not between 8 and 64");
  }

  void read_fault(Table& table) {
    Fault fault;
    table.text("function", fault.function);
    if (table.has("field")) {
      std::uint32_t id = 0;
      table.whole("field", id);
      fault.field = static_cast<FieldId>(id);
    }
    if (fault.function.empty() == !fault.field) table.fault("function", "a fault has either a function or a field");
    if (table.has("gpu")) table.whole("gpu", fault.gpu.emplace());
    table.scaled("from_s", kPerSecond, fault.from);
    table.scaled("until_s", kPerSecond, fault.until);
    table.whole("every", fault.every);
    table.whole("call", fault.call);
    if (fault.every == 0) table.fault("every", "is zero");
    if (table.has("value")) table.whole("value", fault.value.emplace());
    table.scaled("delay_ms", kPerMillisecond, fault.delay);
    std::string code = "SUCCESS";
    table.text("return", code);
    if (const auto known = return_named(code)) {
      fault.result = *known;
    } else {
      table.fault("return", fmt::format("there is no '{}'", code));
    }
    check_function(table, fault);
    out_.faults.push_back(fault);
  }

  void check_function(Table& table, const Fault& fault) const {
    constexpr std::array kFunctions = {
#define JC_NVML_SHAPE(name, ...) Word<bool>{#name, answers_one_number(static_cast<functions::name*>(nullptr))},
        JC_NVML_FUNCTIONS(JC_NVML_SHAPE)
#undef JC_NVML_SHAPE
    };
    if (fault.gpu && *fault.gpu >= out_.gpus.size()) table.fault("gpu", "there is no such GPU above");
    if (fault.field) {
      if (fault.delay > 0) table.fault("delay_ms", "delays a function, not a field");
      return;
    }
    const auto is = [&](const auto& known) { return fault.function == known.name; };
    const auto* known = std::find_if(kFunctions.begin(), kFunctions.end(), is);
    if (fault.function != "*" && (known == kFunctions.end() || fault.function == "nvmlErrorString")) {
      table.fault("function", fmt::format("the stand-in has no '{}' that can fail", fault.function));
    } else if (fault.value && (fault.function == "*" || !known->value)) {
      table.fault("value", fmt::format("'{}' does not answer one number", fault.function));
    }
  }

  std::string folder_;
  std::vector<std::string>& errors_;
  Scenario out_;
};

}  // namespace

Result<Scenario> parse_scenario(const std::string& text, const std::string& folder) {
  try {
    const toml::table root = toml::parse(text);
    std::vector<std::string> errors;
    Scenario out = Reader(folder, errors).read(root);
    if (errors.empty()) return out;
    std::string all;
    for (const std::string& error : errors) all += (all.empty() ? "" : "; ") + error;
    return invalid(all);
  } catch (const toml::parse_error& error) {
    return invalid(fmt::format("line {}: {}", error.source().begin.line, error.description()));
  }
}

Result<Scenario> read_scenario(const std::string& path) {
  std::ifstream file(path);
  if (!file) return io_error(path + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  const std::size_t slash = path.rfind('/');
  auto out = parse_scenario(text.str(), slash == std::string::npos ? "." : path.substr(0, slash));
  if (!out) return tl::unexpected<Error>(std::move(out).error().in(path));
  return out;
}

}  // namespace joulecast::nvml
