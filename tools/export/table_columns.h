// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The columns of the tables that `export` writes as CSV and JSON: of those that grow with calls.

#include <initializer_list>
#include <vector>

namespace chameleon::tools {

using Columns = std::vector<const char*>;

inline Columns with(bool threads, Columns columns, std::initializer_list<const char*> further) {
  if (threads) columns.insert(columns.end(), further);
  return columns;
}

inline Columns event_columns(bool threads) {
  return with(
      threads,
      {"rank", "event", "call", "begin_ns", "end_ns", "compute_ns", "call_ns", "peer", "tag",
       "bytes", "collective_sent", "collective_received", "root", "site", "waiting_ns"},
      {"thread"});
}
inline Columns message_columns(bool threads) {
  return with(threads,
              {"source", "dest", "tag", "context", "sequence", "bytes", "send_ns", "receive_ns",
               "receive_event"},
              {"send_thread", "receive_thread"});
}
inline Columns call_columns() {
  return {"rank", "call", "site", "count", "compute_ns", "call_ns", "sent_bytes"};
}
inline Columns matrix_columns() { return {"source", "dest", "messages", "bytes"}; }
inline Columns cluster_columns() { return {"cluster", "call_path", "lead", "rank"}; }
inline Columns effort_columns() {
  return {"first_marker", "last_marker", "marker",       "stratum",  "medoid",  "ranks",
          "sampled",      "sum_ns",      "deviation_ns", "least_ns", "most_ns", "gap"};
}
inline Columns sample_columns() { return {"first_marker", "marker", "stratum", "rank", "ns"}; }
inline Columns outlier_columns() {
  return {"rank", "thread", "event", "kind", "begin_ns", "ns", "usual_ns"};
}
inline Columns pair_account_columns() {
  return {"source",   "rank", "thread",     "least_bytes",
          "messages", "ns",   "longest_ns", "longest_event"};
}
inline Columns loop_columns() {
  return {"loop",   "parent",     "depth",   "ranks", "iterations",
          "events", "compute_ns", "call_ns", "place"};
}
inline Columns site_columns() { return {"path", "site", "function", "file", "line", "stack"}; }
inline Columns series_columns() {
  return {"first_marker",
          "intervals",
          "end_ns",
          "state",
          "phase",
          "compute_ns",
          "compute_least_ns",
          "compute_least_rank",
          "compute_most_ns",
          "compute_most_rank",
          "call_ns",
          "call_least_ns",
          "call_least_rank",
          "call_most_ns",
          "call_most_rank",
          "busy_ns",
          "busy_least_ns",
          "busy_least_rank",
          "busy_most_ns",
          "busy_most_rank",
          "waiting_ns",
          "waiting_least_ns",
          "waiting_least_rank",
          "waiting_most_ns",
          "waiting_most_rank",
          "slowest_marker",
          "slowest_compute_ns",
          "slowest_compute_rank",
          "slowest_call_ns",
          "slowest_call_rank",
          "slowest_busy_ns",
          "slowest_busy_rank",
          "slowest_waiting_ns",
          "slowest_waiting_rank"};
}

}  // namespace chameleon::tools
