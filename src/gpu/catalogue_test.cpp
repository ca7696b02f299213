// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "gpu/gpu_file.h"
#include "joulecast/gpu.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

std::string found(const Catalogue& catalogue, std::string_view name) {
  const auto gpu = catalogue.find(name);
  return gpu ? std::string((*gpu)->id) : gpu.error().text();
}

// A folder of its own for each test.
fs::path scratch() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  fs::path folder = fs::path(testing::TempDir()) / (std::string("joulecast_catalogue_") + test->name());
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::string write_gpu(const fs::path& folder, const std::string& id, const std::string& alias, int sm_count) {
  const fs::path path = folder / (id + ".toml");
  std::ofstream(path) << "schema = 'joulecast.gpu/1'\nid = '" << id << "'\nname = 'Example " << id
                      << "'\nvendor = 'Example'\narchitecture = 'Ex'\naliases = ['" << alias
                      << "']\n[figures]\nsm_count = " << sm_count
                      << "\nboost_clock_mhz = 1000\nmemory_gb = 16\nmemory_bandwidth_gb_per_s = 500\n"
                         "power_limit_w = 75\nfp32_tflops = 9.7\n[sources]\ndefault = 'here'\n";
  return path.string();
}

TEST(Catalogue, ShippedGpusAreThoseOfTheFolder) {
  std::vector<std::string> ids;
  for (const auto& entry : fs::directory_iterator(fs::path(JOULECAST_SOURCE_DIR) / "data/gpus")) {
    if (entry.path().extension() == ".toml") ids.push_back(entry.path().stem().string());
  }
  std::sort(ids.begin(), ids.end());
  const auto all = Catalogue::shipped().all();
  ASSERT_EQ(all.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(all[i].id, ids[i]);
}

// The generated tables against the reader they were made with.
TEST(Catalogue, EmbeddedFiguresEqualTheFiles) {
  for (const Gpu& gpu : Catalogue::shipped().all()) {
    const auto file = load_gpu(std::string(JOULECAST_SOURCE_DIR "/data/gpus/") + std::string(gpu.id) + ".toml");
    ASSERT_TRUE(file) << file.error().text();
    const Gpu& read = (*file)->gpu;
    EXPECT_EQ(gpu.name, read.name);
    EXPECT_EQ(gpu.compute_capability, read.compute_capability) << gpu.id;
    EXPECT_EQ(gpu.sm_count, read.sm_count) << gpu.id;
    EXPECT_EQ(gpu.memory_total, read.memory_total) << gpu.id;
    EXPECT_EQ(gpu.l2_cache, read.l2_cache) << gpu.id;
    EXPECT_EQ(gpu.fp64_tensor_peak, read.fp64_tensor_peak) << gpu.id;
    EXPECT_EQ(gpu.fp32_tensor_peak, read.fp32_tensor_peak) << gpu.id;
    EXPECT_EQ(gpu.release_year, read.release_year) << gpu.id;
    EXPECT_TRUE(std::equal(gpu.aliases.begin(), gpu.aliases.end(), read.aliases.begin(), read.aliases.end()));
    ASSERT_EQ(gpu.sources.size(), read.sources.size()) << gpu.id;
    for (std::size_t i = 0; i < gpu.sources.size(); ++i) {
      EXPECT_EQ(gpu.sources[i].figure, read.sources[i].figure);
      EXPECT_EQ(gpu.sources[i].source, read.sources[i].source);
      EXPECT_EQ(gpu.sources[i].confirmed, read.sources[i].confirmed);
    }
    ASSERT_EQ(gpu.mig_profiles.size(), read.mig_profiles.size()) << gpu.id;
    for (std::size_t i = 0; i < gpu.mig_profiles.size(); ++i) {
      EXPECT_EQ(gpu.mig_profiles[i].name, read.mig_profiles[i].name);
      EXPECT_EQ(gpu.mig_profiles[i].memory, read.mig_profiles[i].memory);
    }
  }
}

// NVIDIA A100 data sheet: 108 SMs, 19.5 TFLOP/s fp32, 1555 GB/s, 400 W.
TEST(Catalogue, FiguresOfTheA100) {
  const auto gpu = Catalogue::shipped().find("a100");
  ASSERT_TRUE(gpu) << gpu.error().text();
  EXPECT_EQ((*gpu)->id, "a100-sxm4-40gb");
  EXPECT_EQ((*gpu)->sm_count, 108);
  EXPECT_EQ((*gpu)->fp32_peak, FlopsPerSecond{19.5e12});
  EXPECT_EQ((*gpu)->memory_bandwidth, BytesPerSecond{1555e9});
  EXPECT_EQ((*gpu)->power_limit, Watts{400});
  EXPECT_FALSE((*gpu)->fp8_peak);
}

TEST(Catalogue, EveryNameOfEveryGpuLeadsToIt) {
  const Catalogue& catalogue = Catalogue::shipped();
  for (const Gpu& gpu : catalogue.all()) {
    EXPECT_EQ(found(catalogue, gpu.id), gpu.id);
    EXPECT_EQ(found(catalogue, gpu.name), gpu.id);
    for (const std::string_view alias : gpu.aliases) EXPECT_EQ(found(catalogue, alias), gpu.id) << alias;
  }
}

TEST(Catalogue, SpellingMakesNoDifference) {
  EXPECT_EQ(found(Catalogue::shipped(), "NVIDIA  a100 SXM4_40gb"), "a100-sxm4-40gb");
}

TEST(Catalogue, UnknownNameSuggestsTheClosest) {
  EXPECT_EQ(found(Catalogue::shipped(), "a10o"), "no GPU 'a10o'; did you mean a100-sxm4-40gb?");
  EXPECT_EQ(found(Catalogue::shipped(), "zzzzqqqq"), "no GPU 'zzzzqqqq'");
  EXPECT_EQ(found(Catalogue::shipped(), ""), "no GPU ''");
}

TEST(Catalogue, OwnFileIsFoundAndSortedIn) {
  Catalogue catalogue = Catalogue::shipped();
  ASSERT_TRUE(catalogue.add_file(write_gpu(scratch(), "aaa", "triple-a", 5)));
  EXPECT_EQ(catalogue.all().size(), Catalogue::shipped().all().size() + 1);
  EXPECT_TRUE(std::is_sorted(catalogue.all().begin(), catalogue.all().end(),
                             [](const Gpu& a, const Gpu& b) { return a.id < b.id; }));
  EXPECT_EQ(found(catalogue, "Triple A"), "aaa");
  EXPECT_EQ(found(catalogue, "a100"), "a100-sxm4-40gb");
}

TEST(Catalogue, ArchitecturesAreThoseItKnowsInAnySpelling) {
  const std::string path = write_gpu(scratch(), "aaa", "triple-a", 5);
  std::ifstream in(path);
  std::string text(std::istreambuf_iterator<char>(in), {});
  text.replace(text.find("'Ex'"), 4, "'blackwell ULTRA'");
  std::ofstream(path) << text;
  Catalogue catalogue = Catalogue::shipped();
  ASSERT_TRUE(catalogue.add_file(path));
  EXPECT_EQ((*catalogue.find("aaa"))->architecture, "Blackwell Ultra");
}

TEST(Catalogue, OwnFileReplacesItsIdAndWinsItsNames) {
  const fs::path folder = scratch();
  Catalogue catalogue = Catalogue::shipped();
  ASSERT_TRUE(catalogue.add_file(write_gpu(folder, "a100-sxm4-40gb", "nothing-else", 5)));
  ASSERT_TRUE(catalogue.add_file(write_gpu(folder, "mine", "h100", 6)));
  EXPECT_EQ((*catalogue.find("a100"))->sm_count, 5);
  EXPECT_EQ(found(catalogue, "h100"), "mine");
  EXPECT_EQ(catalogue.all().size(), Catalogue::shipped().all().size() + 1);
}

TEST(Catalogue, LaterFileOfOneIdWins) {
  const fs::path folder = scratch();
  Catalogue catalogue;
  ASSERT_TRUE(catalogue.add_file(write_gpu(folder, "mine", "one", 5)));
  ASSERT_TRUE(catalogue.add_file(write_gpu(folder, "mine", "two", 6)));
  EXPECT_EQ(catalogue.all().size(), 1U);
  EXPECT_EQ((*catalogue.find("two"))->sm_count, 6);
  EXPECT_EQ(found(catalogue, "mine"), "mine");
}

TEST(Catalogue, CopyOutlivesTheOriginal) {
  std::optional<Catalogue> original(std::in_place);
  ASSERT_TRUE(original->add_file(write_gpu(scratch(), "mine", "one", 5)));
  const Catalogue copy = *original;
  original.reset();
  EXPECT_EQ(found(copy, "one"), "mine");
}

TEST(Catalogue, FolderIsReadInOrderAndMayBeMissing) {
  const fs::path folder = scratch();
  write_gpu(folder, "b", "bee", 5);
  write_gpu(folder, "a", "ay", 6);
  std::ofstream(folder / "notes.txt") << "not a GPU";
  Catalogue catalogue;
  ASSERT_TRUE(catalogue.add_folder(folder.string()));
  EXPECT_EQ(catalogue.all().size(), 2U);
  EXPECT_TRUE(catalogue.add_folder((folder / "missing").string()));
}

TEST(Catalogue, ErrorsNameTheFile) {
  const fs::path path = scratch() / "bad.toml";
  std::ofstream(path) << "schema = 3\n";
  Catalogue catalogue;
  const auto added = catalogue.add_file(path.string());
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().text(), path.string() + ": line 1: schema: expected text");
  EXPECT_EQ(catalogue.add_file("/nonexistent.toml").error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace joulecast
