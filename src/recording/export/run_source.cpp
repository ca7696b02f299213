// SPDX-License-Identifier: Apache-2.0
#include "recording/export/run_source.h"

#include <algorithm>
#include <utility>

#include "recording/outliner.h"

namespace joulecast {
namespace {

// Readings with rising times only, as load_recording() keeps them.
class Teller : public RecordingVisitor {
 public:
  explicit Teller(const RunSource::Take& take) : take_(take) {}

  void readings(std::uint32_t channel, std::span<const Reading> readings) override {
    if (const auto rising = rising_.of(channel, readings); !rising.empty()) take_(channel, rising);
  }

 private:
  const RunSource::Take& take_;
  RisingReadings rising_;
};

}  // namespace

Result<RunSource> RunSource::open(const std::string& path) {
  JC_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(path));
  auto file = std::make_shared<const MappedFile>(std::move(mapped));
  auto out = parse(file->text());
  if (!out) return tl::unexpected<Error>(std::move(out).error().in(path));
  out->file_ = std::move(file);
  return out;
}

Result<RunSource> RunSource::parse(std::string_view bytes) {
  RunSource out;
  out.bytes_ = bytes;
  Outliner outliner(out.outline_);
  const auto damage = read_recording(bytes, outliner);
  if (!damage) return tl::unexpected<Error>(damage.error());
  out.outline_.damage = *damage;
  out.counts_.resize(out.outline_.channels.size());
  auto span = out.outline_.span();
  out.each([&](std::uint32_t channel, std::span<const Reading> readings) {
    out.counts_[channel] += readings.size();
    if (!span) span = Recording::Span{readings.front().time, readings.back().time};
    span->begin = std::min(span->begin, readings.front().time);
    span->end = std::max(span->end, readings.back().time);
  });
  out.span_ = span.value_or(Recording::Span{});
  return out;
}

RunSource RunSource::of(Recording recording) {
  RunSource out;
  out.span_ = recording.span().value_or(Recording::Span{});
  for (const auto& series : recording.readings) out.counts_.push_back(series.size());
  out.readings_ = std::exchange(recording.readings, {});
  out.outline_ = std::move(recording);
  return out;
}

void RunSource::each(const Take& take) const {
  if (bytes_.empty()) {
    for (std::size_t i = 0; i < readings_.size(); ++i) {
      if (!readings_[i].empty()) take(static_cast<std::uint32_t>(i), readings_[i]);
    }
    return;
  }
  Teller teller(take);
  // It was read once already, so nothing can be wrong with it.
  (void)read_recording(bytes_, teller);
}

}  // namespace joulecast
