// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_file.h"

#include <gtest/gtest.h>

#include <string>

namespace joulecast {
namespace {

// The least that a file must say; the figures begin at line 6.
const std::string kHead =
    "schema = 'joulecast.gpu/1'\n"
    "id = 'x1'\n"
    "name = 'Example X1'\n"
    "vendor = 'Example'\narchitecture = 'Ex'\n";
const std::string kFigures =
    "[figures]\n"
    "sm_count = 10\n"
    "boost_clock_mhz = 1000\n"
    "memory_gb = 16\n"
    "memory_bandwidth_gb_per_s = 500.5\n"
    "power_limit_w = 75\n"
    "fp32_tflops = 9.7\n";
const std::string kSources = "[sources]\ndefault = 'data sheet'\n";
const std::string kLeast = kHead + kFigures + kSources;

std::string error_of(const std::string& text) {
  const auto gpu = parse_gpu(text);
  return gpu ? "no error" : gpu.error().text();
}

// The text with one line exchanged for another.
std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(GpuFile, FiguresBecomeQuantitiesInSiUnits) {
  const auto file = parse_gpu(kLeast);
  ASSERT_TRUE(file) << file.error().text();
  const Gpu& gpu = (*file)->gpu;
  EXPECT_EQ(gpu.id, "x1");
  EXPECT_EQ(gpu.sm_count, 10);
  EXPECT_EQ(gpu.boost_clock, Hertz{1e9});
  EXPECT_EQ(gpu.memory, Bytes{16e9});
  EXPECT_EQ(gpu.memory_bandwidth, BytesPerSecond{500.5e9});
  EXPECT_EQ(gpu.power_limit, Watts{75});
  EXPECT_EQ(gpu.fp32_peak, FlopsPerSecond{9.7e12});
}

TEST(GpuFile, WhatIsNotWrittenIsAbsent) {
  const auto file = parse_gpu(kLeast);
  ASSERT_TRUE(file);
  EXPECT_FALSE((*file)->gpu.fp16_peak);
  EXPECT_FALSE((*file)->gpu.idle_power);
  EXPECT_TRUE((*file)->gpu.mig_profiles.empty());
}

TEST(GpuFile, EachFigureHasItsSourceNoteAndMark) {
  const auto file = parse_gpu("unconfirmed = ['power_limit_w']\n" + kLeast +
                              "memory_gb = 'box'\n[notes]\npower_limit_w = 'of the module'\ngeneral = 'rare'\n");
  ASSERT_TRUE(file) << file.error().text();
  const Gpu& gpu = (*file)->gpu;
  ASSERT_EQ(gpu.sources.size(), 6U);
  EXPECT_EQ(gpu.sources[2].figure, "memory_gb");
  EXPECT_EQ(gpu.sources[2].source, "box");
  EXPECT_TRUE(gpu.sources[2].confirmed);
  EXPECT_EQ(gpu.sources[4].figure, "power_limit_w");
  EXPECT_EQ(gpu.sources[4].source, "data sheet");
  EXPECT_EQ(gpu.sources[4].note, "of the module");
  EXPECT_FALSE(gpu.sources[4].confirmed);
  EXPECT_EQ(gpu.note, "rare");
}

const std::string kMig =
    "[[mig]]\nprofile = '2g.8gb'\ncompute_slices = 2\nmemory_slices = 4\nmax_instances = 2\nsource = 's'\n"
    "[[mig]]\nprofile = '1g.4gb'\ncompute_slices = 1\nmemory_slices = 2\nmax_instances = 4\nsource = 's'\n"
    "memory_mib = 3000\nsm_count = 2\nunconfirmed = ['sm_count']\n";

TEST(GpuFile, MigProfilesComeSmallestFirst) {
  const auto file = parse_gpu(kLeast + kMig);
  ASSERT_TRUE(file) << file.error().text();
  const auto profiles = (*file)->gpu.mig_profiles;
  ASSERT_EQ(profiles.size(), 2U);
  EXPECT_EQ(profiles[0].name, "1g.4gb");
  EXPECT_EQ(profiles[0].memory, Bytes{3000.0 * 1024 * 1024});
  EXPECT_EQ(profiles[0].sm_count, 2);
  EXPECT_FALSE(profiles[0].confirmed);
  EXPECT_EQ(profiles[1].name, "2g.8gb");
  EXPECT_FALSE(profiles[1].memory);
  EXPECT_TRUE(profiles[1].confirmed);
}

TEST(GpuFile, ErrorsNameLineAndKey) {
  EXPECT_EQ(error_of(with(kLeast, "sm_count = 10", "sm_count = 10.5")),
            "line 7: figures.sm_count: expected an integer");
  EXPECT_EQ(error_of(with(kLeast, "= 9.7", "= 'fast'")), "line 12: figures.fp32_tflops: expected a number");
  EXPECT_EQ(error_of(with(kLeast, "= 9.7", "= 9700")), "line 12: figures.fp32_tflops: 9700 is outside 0.1 to 1000");
  EXPECT_EQ(error_of(with(kLeast, "= 9.7", "= nan")), "line 12: figures.fp32_tflops: nan is outside 0.1 to 1000");
  EXPECT_EQ(error_of(with(kLeast, "memory_gb = 16\n", "")), "line 6: figures.memory_gb: missing");
  EXPECT_EQ(error_of(with(kLeast, "'x1'", "'X 1'")),
            "line 2: id: expected lower-case words joined by '-', at most 64 letters");
  EXPECT_EQ(error_of(with(kLeast, "gpu/1", "gpu/2")),
            "line 1: schema: expected \"joulecast.gpu/1\", found \"joulecast.gpu/2\"");
}

TEST(GpuFile, FiguresMayNotContradictEachOther) {
  const auto more = [](const std::string& lines) { return kHead + kFigures + lines + kSources; };
  EXPECT_EQ(error_of(more("min_power_limit_w = 80\n")), "line 13: figures.min_power_limit_w: is above power_limit_w");
  EXPECT_EQ(error_of(more("max_power_limit_w = 70\n")), "line 11: figures.power_limit_w: is above max_power_limit_w");
  EXPECT_EQ(error_of(more("idle_power_w = 76\n")), "line 13: figures.idle_power_w: is above power_limit_w");
  EXPECT_EQ(error_of(more("base_clock_mhz = 1001\n")), "line 13: figures.base_clock_mhz: is above boost_clock_mhz");
  EXPECT_EQ(error_of(more("tf32_tflops = 9.6\n")), "line 12: figures.fp32_tflops: is above tf32_tflops");
  // 9.7 TFLOP/s of 1000 lanes at 1 GHz, which do 2.
  EXPECT_EQ(error_of(more("cuda_core_count = 1000\n")),
            "line 12: figures.fp32_tflops: is 4.8 times what cuda_core_count lanes do at boost_clock_mhz");
  EXPECT_TRUE(parse_gpu(more("cuda_core_count = 2424\n")));  // two instructions at once
  EXPECT_TRUE(parse_gpu(more("cuda_core_count = 4864\nmin_power_limit_w = 75\nmax_power_limit_w = 75\n")));
}

// The laws ask who makes it.
TEST(GpuFile, VendorsAreKnownInAnyCase) {
  const auto vendor = [](const std::string& text) {
    const auto file = parse_gpu(with(kLeast, "vendor = 'Example'", "vendor = '" + text + "'"));
    return file ? std::string((*file)->gpu.vendor) : file.error().text();
  };
  EXPECT_EQ(vendor("Nvidia"), "NVIDIA");
  EXPECT_EQ(vendor("amd"), "AMD");
  EXPECT_EQ(vendor("Acme"), "Acme");
}

TEST(GpuFile, CapabilitiesAreMajorAndMinorRevision) {
  const auto with_capability = [](const std::string& text) {
    return error_of(kHead + kFigures + "compute_capability = '" + text + "'\n" + kSources);
  };
  EXPECT_EQ(with_capability("8.9"), "no error");
  EXPECT_EQ(with_capability("12.0"), "no error");
  for (const std::string wrong : {"8,9", "8", "sm_89", "8.", ".9", "8.9.1", "8.9 "}) {
    EXPECT_EQ(with_capability(wrong),
              "line 13: figures.compute_capability: expected MAJOR.MINOR like \"8.9\", found \"" + wrong + "\"");
  }
}

TEST(GpuFile, MisspeltKeysAreNotPassedOver) {
  EXPECT_EQ(error_of(with(kLeast, "sm_count", "sm_cuont")),
            "line 7: figures.sm_cuont: unknown figure; did you mean sm_count?");
  EXPECT_EQ(error_of("color = 'green'\n" + kLeast), "line 1: color: unknown key");
  EXPECT_EQ(error_of(kLeast + "fp16_tflops = 'x'\n"),
            "line 15: sources.fp16_tflops: there is no such figure in this file");
  EXPECT_EQ(error_of("unconfirmed = ['idle_power_w']\n" + kLeast),
            "line 1: unconfirmed: 'idle_power_w' is no figure of this file");
  EXPECT_EQ(error_of(kLeast + with(kMig, "max_instances", "instances")), "line 19: mig.instances: unknown key");
}

TEST(GpuFile, FigureWithoutSourceIsAnError) {
  EXPECT_EQ(error_of(kHead + kFigures),
            "line 7: figures.sm_count: has no source; write sources.sm_count or sources.default");
}

TEST(GpuFile, TextMayNotSteerTheTerminal) {
  EXPECT_EQ(error_of(with(kLeast, "'Example X1'", "\"Example \\u001b[2J\"")),
            "line 3: name: holds a control character");
}

TEST(GpuFile, WrongTomlIsAnErrorWithItsLine) {
  EXPECT_TRUE(error_of(kLeast + "= 3\n").starts_with("line 15: "));
  EXPECT_EQ(error_of("[#"), "is no TOML");  // fails an assertion of toml++ 3.3
  EXPECT_EQ(error_of("a = 1\n\u0400 = 1\n"), "line 2: only ASCII characters may stand in a GPU file");
  EXPECT_EQ(error_of("figures = 3\n" + kHead + kSources), "line 1: figures: expected a table");
  EXPECT_EQ(error_of("mig = [1]\n" + kLeast), "line 1: mig: expected [[mig]] tables");
}

TEST(GpuFile, HostileSizesAndDepthsAreRefused) {
  EXPECT_EQ(error_of(std::string(kMaxGpuFileBytes + 1, '\n')), "has 1048577 bytes; a GPU file has at most 1048576");
  std::string dots = "a";
  for (int i = 0; i < 200'000; ++i) dots += ".a";
  EXPECT_EQ(error_of(kLeast + "[" + dots + "]\n"), "line 15: longer than 2048 bytes");
  EXPECT_NE(error_of(kLeast + "x = " + std::string(1000, '[') + "\n"), "no error");
  // The deepest that the line limit lets through must be read and freed without running out of stack.
  std::string deep = "a";
  for (int i = 0; i < 1000; ++i) deep += ".a";
  EXPECT_EQ(error_of("[" + deep + "]\n" + deep + "=[\n{" + deep + "=[\n" + deep + "=1}]}]\n").substr(0, 7), "line 4:");
  EXPECT_EQ(error_of("[" + deep + "]\n" + deep + "=[\n{" + deep + "=1}]\n"), "line 1: schema: missing");
}

}  // namespace
}  // namespace joulecast
