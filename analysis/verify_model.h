// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What MPI's handles stand for while the raw records of one rank are read:
/// which symbolic ids a handle may have (an MPI may give several live objects
/// one handle), who is in a communicator, how large a datatype is, and what an
/// open request was posted with. It follows the standard's rules of creation,
/// completion and release from the raw records alone and learns the id of an
/// object where it is created; the ids themselves are the tracer's to choose.

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/partner.h"
#include "analysis/raw_reader.h"
#include "model/trace.h"
#include "mpi/kinds.h"

namespace chameleon::analysis {

struct RawRequest {
  std::int64_t id = -1;
  bool persistent = false, active = false, cancelled = false;
  bool receives = false;   ///< the rest is of receives
  bool transfers = false;  ///< data of a file: only the bytes of its status count
  std::int64_t source = 0, tag = 0;
  std::int64_t bytes = -1;  ///< posted; -1: of a datatype whose size is not known
  CommPlace comm;
};

class RawModel {
 public:
  /// Of an event the trace lacks: the object's id shows when it is next used.
  static constexpr std::int64_t kUnknownId = INT64_MIN;

  RawModel(const Trace& trace, const RawReader& reader, std::uint32_t rank);

  /// Whether a handle given to a call can be the object `id`. A handle whose
  /// creation was not seen is taken up if the id is free.
  bool matches(Kind kind, std::int64_t handle, std::int64_t id);
  /// An object made by a call: false if `id` already stands for another.
  bool create(Kind kind, std::int64_t handle, std::int64_t id);
  void release(Kind kind, std::int64_t handle, std::int64_t id);

  bool is_null(Kind kind, std::int64_t handle) const;
  /// Whether `id` is of a request that has ended, as a null entry of an array may be recorded.
  bool has_ended(std::int64_t id) const;
  /// Where the end-points of calls on a communicator are counted; alone, if it is not known.
  CommPlace place(std::int64_t comm) const;
  void learn_comm(std::int64_t comm, std::span<const std::int64_t> members);
  std::int64_t type_size(std::int64_t datatype) const;
  void learn_type(const RawEvent& event, const CallInfo& call);

  void post(std::int64_t handle, const RawRequest& request);
  /// The request of this handle and id, else one of this handle, else null.
  RawRequest* request(std::int64_t handle, std::int64_t id);
  void drop_request(std::int64_t handle, std::int64_t id);

  /// What a receive call (blocking or not, persistent, probe) asks for.
  /// `message`: the id of the one that it receives, if that is known.
  RawRequest posted(const RawEvent& event, std::int64_t message) const;

  /// Matched probes tell source and tag that the receive of the message will see.
  void keep_message(std::int64_t handle, std::int64_t id, const RawStatus& status);
  void drop_message(std::int64_t handle, std::int64_t id);

  std::int64_t any_source, proc_null, root, any_tag, undefined;

 private:
  struct Objects {
    std::unordered_map<std::int64_t, std::vector<std::int64_t>> ids;  ///< by handle
    std::unordered_map<std::int64_t, std::int64_t> handle_of;         ///< by live id
    std::unordered_map<std::int64_t, std::int64_t> gone;  ///< last handle of ids that were released
    /// Ids of handles that no call made: until one makes an object with this id.
    std::unordered_set<std::int64_t> taken_up;
  };
  /// Names of predefined objects; an MPI may give one handle several.
  using Names = std::vector<std::string>;
  bool predefined_matches(Kind kind, const Names& names, std::int64_t handle, std::int64_t id);
  Objects& objects(Kind kind) { return objects_[static_cast<std::size_t>(kind)]; }

  const Trace& trace_;
  std::int32_t rank_;
  std::vector<Objects> objects_;
  std::vector<std::unordered_map<std::int64_t, Names>> predefined_;  ///< by kind, handle
  std::unordered_map<std::int64_t, CommPlace> places_;               ///< by communicator
  std::unordered_map<std::int64_t, std::int64_t> type_sizes_;
  std::unordered_map<std::int64_t, std::vector<RawRequest>> requests_;
  /// By id, or by handle where the trace lacks the probe: threads may have several of one handle.
  std::unordered_map<std::int64_t, RawStatus> messages_;
};

/// Whether the recorded call did what it is for, whatever it returned; `info` may be null.
bool took_place(const RawEvent& raw, const CallInfo* info);
/// Whether the k-th request that the call reports has ended.
bool has_ended(const RawEvent& raw, std::size_t k);

/// The kind of this name in mpi_calls.txt; `Kind::kOther` for none.
Kind kind_of_name(std::string_view name);

}  // namespace chameleon::analysis
