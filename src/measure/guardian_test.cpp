// SPDX-License-Identifier: Apache-2.0
// On the stand-in of tests/nvml, whose settings outlive the processes that made them.
#include "measure/guardian.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "opened_library.h"

namespace joulecast {
namespace {

constexpr const char* kPlain = "allow_set = true\n[[gpu]]\nload = {constant_w = 600}\n";
constexpr std::uint32_t kWantedMw = 300'000;
// What is promised within a second, on a machine that others keep busy.
constexpr std::chrono::milliseconds kPrompt{3000};

class GuardianTest : public nvml::StandinTest {
 protected:
  GuardianTest() {
    setenv("XDG_STATE_HOME", (folder_ + "/home").c_str(), 1);
    scenario(kPlain);
    state_ = keep_state();
  }

  // In a process of its own, as a program does it: guardian, journal, change, then what the test wants.
  pid_t change_in_child(const std::function<void(Guardian&, const NvmlGpu&, const FoundSettings&)>& then) const {
    const pid_t child = fork();
    if (child != 0) return child;
    auto guardian = Guardian::start();
    const nvml::OpenedLibrary standin;
    const auto library = NvmlLibrary::open();
    std::vector<Missing> missing;
    const NvmlGpu gpu = list_nvml_gpus(*library, missing)->at(0);
    GpuSettings wanted;
    wanted.power_limit_mw = kWantedMw;
    wanted.sm_lock = ClockRange{990, 990};
    FoundSettings found = find_settings(gpu);
    found.will_change(wanted);
    if (!(*guardian)->protect({found}, "test") || !apply_settings(gpu, wanted)) _exit(1);
    then(**guardian, gpu, found);
    _exit(0);
  }

  [[nodiscard]] std::string settings() const { return text_of(state_); }
  // The last line of that kind.
  [[nodiscard]] std::string last(const std::string& key) const {
    const std::string text = settings();
    const auto at = text.rfind(key);
    return at == std::string::npos ? "" : text.substr(at + key.size() + 1, text.find('\n', at) - at - key.size() - 1);
  }
  [[nodiscard]] std::vector<RestoreJournal> journals() const {
    std::vector<Error> damaged;
    return list_journals(*restore_folder(), damaged);
  }
  template <typename Condition>
  static bool within(std::chrono::milliseconds time, const Condition& condition) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  std::string state_;
};

void wait_forever(Guardian& /*guardian*/, const NvmlGpu& /*gpu*/, const FoundSettings& /*found*/) {
  while (true) pause();
}

// The guardian opens NVML by name: a test program has the stand-in under that name only where it was opened by path
// before, so that a guardian that is forked here needs it open from the start.
class GuardianAtWork : public GuardianTest {
 protected:
  nvml::OpenedLibrary standin_;
};

TEST_F(GuardianAtWork, SigkillOfTheProgramPutsBackAtOnce) {
  const pid_t child = change_in_child(wait_forever);
  ASSERT_TRUE(within(std::chrono::seconds(10), [&] { return last("power_limit_mw") == "300000"; })) << settings();
  ASSERT_TRUE(within(kPrompt, [&] { return journals().size() == 1; }));
  const ProcessMark guardian = journals().front().guardian;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(within(kPrompt, [&] {
    return last("power_limit_mw") == "700000" && last("sm_lock_mhz") == "none" && journals().empty();
  })) << settings();
  EXPECT_TRUE(within(std::chrono::seconds(20), [&] { return !is_alive(guardian); }));
}

TEST_F(GuardianAtWork, WhoPutBackHimselfIsLeftAlone) {
  const pid_t child = change_in_child([](Guardian& guardian, const NvmlGpu& gpu, const FoundSettings& found) {
    if (!restore_settings(gpu, found)) _exit(1);
    guardian.dismiss();
  });
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(journals().empty());
  const std::string text = settings();
  EXPECT_EQ(last("power_limit_mw"), "700000");
  EXPECT_EQ(text.find("700000"), text.rfind("700000")) << "put back twice: " << text;
}

TEST_F(GuardianAtWork, WhenBothWereKilledTheJournalIsEnough) {
  const pid_t child = change_in_child(wait_forever);
  ASSERT_TRUE(within(std::chrono::seconds(10), [&] { return last("power_limit_mw") == "300000"; }));
  ASSERT_EQ(journals().size(), 1U);
  EXPECT_TRUE(restore_all(*restore_folder(), RestoreMode::kDo).done.empty()) << "its owner lives";
  kill(journals().front().guardian.pid, SIGKILL);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(within(std::chrono::seconds(5), [&] { return !journals().front().in_use(); }));
  EXPECT_EQ(last("power_limit_mw"), "300000");
  const RestoreReport dry = restore_all(*restore_folder(), RestoreMode::kDryRun);
  ASSERT_EQ(dry.done.size(), 1U);
  EXPECT_NE(dry.done.front().find("power limit 700 W, SM clocks unlocked"), std::string::npos) << dry.done.front();
  EXPECT_EQ(last("power_limit_mw"), "300000") << "a dry run changes nothing";
  const RestoreReport report = restore_all(*restore_folder(), RestoreMode::kDo);
  EXPECT_EQ(report.done.size(), 1U);
  EXPECT_TRUE(report.failed.empty());
  EXPECT_EQ(last("power_limit_mw"), "700000");
  EXPECT_TRUE(journals().empty());
}

TEST_F(GuardianTest, AJournalOfAnEarlierStartOfTheMachineIsOnlyRemoved) {
  RestoreJournal journal;
  journal.host = this_host();
  journal.boot = "an earlier one";
  journal.owner = mark_process(getpid());
  journal.purpose = "sweep plan.toml";
  journal.gpus.push_back({"GPU-1", "H100", 0, 500'000, 700'000, std::nullopt, true, false, false, false});
  ASSERT_TRUE(write_journal(journal));
  const RestoreReport report = restore_all(*restore_folder(), RestoreMode::kDo);
  ASSERT_EQ(report.done.size(), 1U);
  EXPECT_NE(report.done.front().find("restarted"), std::string::npos);
  EXPECT_TRUE(journals().empty());
}

TEST_F(GuardianTest, AnotherMachinesJournalIsLeftToIt) {
  RestoreJournal journal;
  journal.host = "elsewhere";
  journal.gpus.push_back({"GPU-1", "H100", 0, 500'000, 700'000, std::nullopt, true, false, false, false});
  ASSERT_TRUE(write_journal(journal));
  const RestoreReport report = restore_all(*restore_folder(), RestoreMode::kDo);
  EXPECT_EQ(report.left.size(), 1U);
  EXPECT_EQ(journals().size(), 1U);
}

TEST_F(GuardianTest, ADamagedJournalIsToldAndKept) {
  std::filesystem::create_directories(*restore_folder());
  std::ofstream(*restore_folder() + "/x.json") << "{\"schema\": \"joul";
  const RestoreReport report = restore_all(*restore_folder(), RestoreMode::kDo);
  EXPECT_EQ(report.failed.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(*restore_folder() + "/x.json"));
}

TEST(ProcessMark, ANumberThatCameAgainIsAnotherProcess) {
  ProcessMark mark = mark_process(getpid());
  EXPECT_TRUE(is_alive(mark));
  mark.started += 1;
  EXPECT_FALSE(is_alive(mark));
  EXPECT_FALSE(is_alive(ProcessMark{}));
}

}  // namespace
}  // namespace joulecast
