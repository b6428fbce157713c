// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Recorded values as people write MPI: `MPI_DOUBLE` for a symbolic id, `+1` for a partner one rank
/// up, `ANY` for a wildcard. Values that vary over iterations or ranks stay compressed: `+1,-1`,
/// `{ranks 0-3: 5 | ranks 4-7: 6}`.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/trace.h"

namespace chameleon::tools {

class ValueText {
 public:
  /// `all`: nothing is shortened. The trace must outlive this.
  ValueText(const Trace& trace, bool all) : trace_(trace), all_(all) {}

  /// One value of a field.
  std::string value(const Field& field, EndPointForm form, std::int64_t value) const;
  /// The values of the field over the iterations.
  std::string sequence(const Field& field, EndPointForm form, const ValueSequence& values) const;
  /// Its values on `ranks`, which all take part in the event.
  std::string param(const Field& field, const Param& param, const RankList& ranks) const;

 private:
  std::string end_point(EndPointForm form, std::int64_t value) const;
  std::string object(const std::string& kind, std::int64_t id) const;
  std::string array(const Field& field, std::int64_t key) const;

  const Trace& trace_;
  bool all_;
};

/// Whether this value carries no information: success, an ordinary buffer, a part of a status that
/// the posted receive has.
bool says_nothing(const Trace& trace, const Field& field, EndPointForm form, std::int64_t value);

/// The line of a call: partners, tag, `COUNT x TYPE`, whatever else, and the
/// communicator. `text(i)` is field i as text; empty: left out.
std::string call_text(const CallDescription& call,
                      const std::function<std::string(std::size_t)>& text);

}  // namespace chameleon::tools
