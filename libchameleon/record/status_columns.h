// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How statuses are stored: one as its source, tag and bytes; several as an array of each, empty
/// where no status tells anything, which is usual.

#include <boost/container/small_vector.hpp>

#include "record/objects.h"
#include "record/status_values.h"

namespace chameleon::record {

inline void store_status(std::int64_t* at, const StatusValues& values) {
  at[0] = values.source;
  at[1] = values.tag;
  at[2] = values.bytes;
}

class StatusColumns {
 public:
  /// Status `k` of a call, after those before it; statuses left out tell nothing.
  void put(std::size_t k, const StatusValues& values) {
    if (columns_[0].empty() && values.empty()) return;
    for (Column& column : columns_) column.reserve(k + 1);
    columns_[0].resize(k, packed_relative(StatusValues{}.source));
    columns_[1].resize(k, kNotRecorded);
    columns_[2].resize(k, kNotRecorded);
    columns_[0].push_back(packed_relative(values.source));
    columns_[1].push_back(values.tag);
    columns_[2].push_back(values.bytes);
  }

  void store(Objects& objects, std::int64_t* at) const {
    if (columns_[0].empty()) return store_none(objects, at);
    for (const Column& column : columns_)
      *at++ = static_cast<std::int64_t>(objects.intern({column.data(), column.size()}));
  }

  /// Of a call whose statuses tell nothing, which is usual.
  static void store_none(Objects& objects, std::int64_t* at) {
    at[0] = at[1] = at[2] = static_cast<std::int64_t>(objects.intern({}));
  }

 private:
  using Column = boost::container::small_vector<std::int64_t, 16>;
  Column columns_[3];
};

}  // namespace chameleon::record
