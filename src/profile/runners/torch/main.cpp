// SPDX-License-Identifier: Apache-2.0
// joulecast-run-torch: runs operations and networks for `joulecast profile`, which feeds it lines and watches it.
// docs/formats/runner.md has the protocol.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/version.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "device.h"
#include "executor.h"
#include "words.h"

namespace joulecast::runner {
namespace {

constexpr std::int64_t kProtocol = 1;
constexpr const char* kRuntime = "pytorch-eager";

// Replies have a descriptor of their own: what libraries print to standard output must not be taken for one.
class Replies {
 public:
  Replies() : file_(fdopen(dup(STDOUT_FILENO), "w")) { dup2(STDERR_FILENO, STDOUT_FILENO); }
  void send(const std::string& line) const {
    std::fputs((line + '\n').c_str(), file_);
    std::fflush(file_);
  }

 private:
  std::FILE* file_;
};

// One accelerator or processor, one case at a time.
class Session {
 public:
  // The reply to a line. Throws.
  std::string handle(const std::string& line, std::istream& more) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.empty()) return "ok";
    const Fields fields(words);
    if (words[0] == "hello") return hello(fields);
    if (!device_) throw Refusal("protocol", "hello comes first");
    if (words[0] == "prepare") return prepare(fields, more);
    if (words[0] == "run") return run(fields);
    if (words[0] == "memory") return memory();
    if (words[0] == "release") {
      release();
      return "ok";
    }
    throw Refusal("protocol", "'" + std::string(words[0]) + "' is no request");
  }

  void release() {
    executor_.reset();
    if (device_) device_->empty_cache();
  }

 private:
  std::string hello(const Fields& fields) {
    if (fields.integer("protocol") != kProtocol) throw Refusal("protocol", "this runner speaks protocol 1");
    if (const std::string runtime = fields.text("runtime", kRuntime); runtime != kRuntime) {
      throw Refusal("unsupported", "runtime " + runtime + ": this runner has " + kRuntime);
    }
    if (const std::int64_t threads = fields.integer("threads"); threads > 0)
      at::set_num_threads(static_cast<int>(threads));
    const std::string device = fields.text("device", "cpu");
    if (device.rfind("cuda", 0) == 0 && !at::hasCUDA())
      throw Refusal("unsupported", "device " + device + ": this torch has no CUDA, or sees no GPU");
    device_.emplace(device);
    return std::string("ok runner=torch runtime=") + kRuntime +
           " software=" + escaped(std::string("pytorch ") + TORCH_VERSION + " (C++)") +
           " threads=" + std::to_string(at::get_num_threads());
  }

  static void set_precision(const std::string& precision) {
    if (precision != "fp32" && precision != "tf32" && precision != "tf32-all" && precision != "fp16" &&
        precision != "bf16" && precision != "fp64") {
      throw Refusal("unsupported", "precision " + precision);
    }
    at::globalContext().setAllowTF32CuDNN(precision == "tf32" || precision == "tf32-all");
    at::globalContext().setAllowTF32CuBLAS(precision == "tf32-all");
  }

  static void check_parameters(const Program& program, const CaseOptions& options) {
    const bool alone = program.steps.empty() && program.outputs.empty() && !program.values.empty();
    if (!alone || options.mode != Mode::kTraining) throw Refusal("protocol", "an optimizer has parameters alone");
    for (const Value& value : program.values) {
      if (value.kind != Kind::kParameter || !at::isFloatingType(value.element))
        throw Refusal("protocol", "a parameter that cannot learn");
    }
  }

  std::string prepare(const Fields& fields, std::istream& more) {
    release();
    std::vector<std::string> lines;  // all of them, before any can be refused
    for (std::string line; std::getline(more, line) && line != "end";) lines.push_back(std::move(line));
    if (fields.has("module")) throw Refusal("unsupported", "this runner runs no modules; python-torch does");
    Program program;
    for (const std::string& line : lines) program.add_line(line);
    set_precision(fields.text("precision", "fp32"));
    CaseOptions options;
    options.mode = fields.text("mode", "inference") == "training" ? Mode::kTraining : Mode::kInference;
    options.network = fields.text("kind", "operation") == "network";
    options.optimizer = fields.text("kind") == "optimizer";
    if (options.optimizer) check_parameters(program, options);
    options.input_gradient = fields.integer("input_gradient", 1) != 0;
    options.copies_bytes = fields.integer("copies_bytes");
    options.copies_most = fields.integer("copies_most", 1);
    executor_ = std::make_unique<Executor>(std::move(program), options, *device_);
    return "ok copies=" + std::to_string(executor_->copies()) +
           " distinct_copies=" + std::to_string(executor_->distinct_copies()) +
           " weight_bytes=" + std::to_string(executor_->weight_bytes()) + (options.optimizer ? " kind=optimizer" : "");
  }

  std::string run(const Fields& fields) {
    if (!executor_) throw Refusal("protocol", "nothing is prepared");
    const std::int64_t iterations = fields.integer("iterations", 1);
    if (iterations < 1) throw Refusal("protocol", "iterations must be 1 or more");
    const Window window = device_->timed([&] { executor_->run(iterations); });
    std::string out = "ok iterations=" + std::to_string(iterations) + " begin_us=" + std::to_string(window.begin_us) +
                      " end_us=" + std::to_string(window.end_us) + " host_s=" + std::to_string(window.host_s);
    if (window.device_s) out += " device_s=" + std::to_string(*window.device_s);
    return out;
  }

  std::string memory() {
    if (!executor_) throw Refusal("protocol", "nothing is prepared");
    device_->reset_memory_peak();
    executor_->run(1);
    device_->synchronize();
    const auto peak = device_->memory_peak();
    if (!peak) return "ok";
    return "ok allocated_bytes=" + std::to_string(peak->allocated) +
           " reserved_bytes=" + std::to_string(peak->reserved);
  }

  std::optional<Device> device_;
  std::unique_ptr<Executor> executor_;
};

bool is_out_of_memory(const std::string& text) {
  return text.find("out of memory") != std::string::npos || text.find("can't allocate memory") != std::string::npos;
}

std::string refusal(const std::string& kind, const std::string& text) {
  // The rest of torch's message is a backtrace.
  return "error kind=" + kind + " text=" + escaped(text.substr(0, text.find('\n')));
}

// The reply, and after an error nothing of the case is left.
std::string answer(Session& session, const std::string& line, std::istream& more) {
  try {
    return session.handle(line, more);
  } catch (const Refusal& error) {
    session.release();
    return refusal(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    session.release();
    return refusal("out_of_memory", "no memory left");
  } catch (const std::exception& error) {
    session.release();
    return refusal(is_out_of_memory(error.what()) ? "out_of_memory" : "failed", error.what());
  }
}

}  // namespace
}  // namespace joulecast::runner

int main() {
  const joulecast::runner::Replies replies;
  joulecast::runner::Session session;
  for (std::string line; std::getline(std::cin, line);)
    replies.send(joulecast::runner::answer(session, line, std::cin));
  return 0;
}
