// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Hand-written traces for tests: describe calls once, push each rank's events,
/// and get them folded and merged as the tracer would.

#include <map>
#include <string>
#include <vector>

#include "compress/fold.h"
#include "compress/merge.h"
#include "model/trace.h"
#include "unit/call_fields.h"

namespace chameleon::testing {
using namespace compress;

class TraceBuilder {
 public:
  explicit TraceBuilder(std::uint32_t ranks, std::uint32_t threads = 1)
      : folders_(std::size_t{ranks} * threads) {
    trace_.world_size = ranks;
    trace_.threads = threads;
    trace_.complete = true;
    trace_.predefined["datatype"] = {{"MPI_BYTE", 1}, {"MPI_INT", 4}, {"MPI_DOUBLE", 8}};
    trace_.predefined["op"] = {{"MPI_SUM", 0}, {"MPI_MAX", 0}};
  }

  /// Fields behind "return": "name:kind", ":e" end-point, ":a" array.
  void call(std::uint16_t id, const std::string& name, const std::vector<std::string>& fields) {
    CallDescription& call = trace_.calls[id];
    call.name = name;
    call.fields = {{"return", "int", FieldKind::kPlain}};
    for (std::string field : fields) {
      FieldKind stored = FieldKind::kPlain;
      if (field.ends_with(":e")) stored = FieldKind::kEndPoint;
      if (field.ends_with(":a")) stored = FieldKind::kArray;
      if (stored != FieldKind::kPlain) field.resize(field.size() - 2);
      const std::size_t colon = field.find(':');
      call.fields.push_back({field.substr(0, colon), field.substr(colon + 1), stored});
    }
  }

  /// As many tests know it.
  void call(std::uint16_t id, const std::string& name) { call(id, name, fields_of_call(name)); }

  /// An event of a stream that returned 0; its path is `paths` and its call's number.
  void push(std::uint32_t rank, std::uint16_t call, std::vector<std::int64_t> values,
            std::uint64_t compute_ns = 1, std::uint64_t call_ns = 1) {
    push_failed(rank, call, 0, std::move(values), compute_ns, call_ns);
  }

  /// An event that returned this error.
  void push_failed(std::uint32_t rank, std::uint16_t call, std::int64_t error,
                   std::vector<std::int64_t> values, std::uint64_t compute_ns = 1,
                   std::uint64_t call_ns = 1) {
    values.insert(values.begin(), error);
    folders_[rank].push({call, paths + call, compute_ns, call_ns, values});
  }

  /// What calls return are error classes (error_class.h).
  void tell_classes() {
    for (auto& [id, call] : trace_.calls) call.fields[0].kind = "error";
  }

  std::int64_t array(std::vector<std::int64_t> values) {
    return static_cast<std::int64_t>(trace_.intern(std::move(values)));
  }

  bool complete = true;
  std::uint64_t paths = 100;

  Trace build() {
    Trace whole;
    for (std::uint32_t rank = 0; rank < folders_.size(); ++rank) {
      Trace part = trace_;
      part.ranks = RankList::single(rank);
      part.nodes = folders_[rank].take();
      if (rank == 0)
        whole = std::move(part);
      else
        merge(whole, std::move(part));
    }
    canonicalize(whole);
    whole.complete = complete;
    whole.world_size = trace_.world_size;
    return whole;
  }

 private:
  Trace trace_;
  std::vector<Folder> folders_;
};

}  // namespace chameleon::testing
