// SPDX-License-Identifier: BSD-3-Clause
#include "process/trace_file.h"

#include <utility>

namespace chameleon::process {

Trace TraceFile::empty_trace() const { return new_trace(size_, settings_); }

void TraceFile::write_last(const Trace& whole, const PackedFacts& of_ranks) {
  const Status written = writer_->finish(whole, of_ranks);
  report(written);
  if (written) summary_ = summarize(whole, of_ranks, writer_->bytes(), writer_->path());
}

void TraceFile::write_last_part(const Trace& partial, const Trace& online,
                                const PackedFacts& of_ranks) {
  const bool packed = partial.facts.empty();
  const Status written =
      packed ? writer_->append(partial, online, of_ranks) : writer_->append(partial, online);
  report(written);
  if (written) summary_ = summarize(partial, of_ranks, writer_->bytes(), writer_->path());
}

void TraceFile::keep_last_words(const RankList& ranks) {
  Trace words = empty_trace();
  words.declarations.push_back(
      {"rank 0 ran out of memory: events that it had not written by then are missing", ranks});
  writer_->keep_last_words(words);
}

/// Says once that the file cannot be brought up to date.
void TraceFile::report(const Status& written) {
  if (!written && !std::exchange(said_, true))
    say(written.error().message + "; " + writer_->path() + " holds what was written before");
}

}  // namespace chameleon::process
