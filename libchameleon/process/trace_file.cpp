// SPDX-License-Identifier: BSD-3-Clause
#include "process/trace_file.h"

#include <utility>

#include "process/say.h"

namespace chameleon::process {

Trace TraceFile::empty_trace() const { return new_trace(size_, settings_); }

void TraceFile::write(const Trace& partial, const Trace& online) {
  report(writer_->append(partial, online));
}

void TraceFile::write_last(const Trace& whole) {
  const Status written = writer_->finish(whole);
  report(written);
  if (written) summarize(whole, writer_->bytes(), writer_->path());
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
