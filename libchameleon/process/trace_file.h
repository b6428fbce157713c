// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The job's trace file, as the online trace writes it on rank 0.

#include <memory>
#include <optional>
#include <string>

#include "format/file.h"
#include "online/rank.h"
#include "process/say.h"
#include "process/settings.h"

namespace chameleon::process {

class TraceFile final : public Output {
 public:
  TraceFile(std::unique_ptr<TraceWriter> writer, const Settings& settings, int size)
      : writer_(std::move(writer)), settings_(settings), size_(size) {}

  Trace empty_trace() const override;
  void stage(const Trace& partial) override { writer_->stage(partial); }
  void write(const Trace& online, std::uint64_t compared) override {
    report(writer_->write(online, compared));
  }
  bool let_go(const Trace& online) override { return writer_->let_go(online); }
  void write_last(const Trace& whole, const PackedFacts& of_ranks) override;
  void write_last_part(const Trace& partial, const Trace& online,
                       const PackedFacts& of_ranks) override;
  void keep_last_words(const RankList& ranks) override;
  void write_last_words() noexcept override { writer_->say_last_words(); }

  /// About the trace that was completed; nothing if it was not.
  void say_summary(const OutsideRun& outside) const {
    if (summary_) process::say_summary(*summary_, outside);
  }

 private:
  void report(const Status& written);

  std::unique_ptr<TraceWriter> writer_;
  const Settings& settings_;
  int size_;
  bool said_ = false;
  std::optional<RunSummary> summary_;
};

}  // namespace chameleon::process
