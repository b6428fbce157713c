// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Re-issues one rank's traced calls, as a `Follower` reads them. Every event goes through the same
/// three steps: its values become words by their kinds (decode.cpp), the call is made, and what it
/// made or freed is noted. Only completion, starting and freeing of requests, and probes, differ
/// (requests.cpp): they must end as they did in the traced run; and windows and files need memory
/// and scratch files (targets.cpp). Memory is that of live objects and of buffers in use.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/check.h"
#include "analysis/reissue.h"
#include "replay/files.h"
#include "replay/known.h"
#include "replay/matches.h"
#include "replay/objects.h"
#include "replay/pace.h"
#include "replay/plan.h"
#include "replay/pool.h"
#include "replay/windows.h"

namespace chameleon::replay {

class Interpreter {
 public:
  /// `here` reads the events that `step` and `pass` are given. `plan` is its own, `ahead` a second
  /// follower of the same rank. All must outlive this.
  Interpreter(const FollowPlan& plan, const Follower& here, Follower ahead, const CallPlans& plans,
              Pace& pace);

  /// Operations not to re-issue, ascending.
  void leave_out(std::vector<Omission> omissions) { omissions_ = std::move(omissions); }
  /// Sends not to wait for, ascending: they are nonblocking, and complete when they can.
  void do_not_await(std::vector<Omission> sends) { unawaited_ = std::move(sends); }
  /// For ranks with several threads, whose calls are made one after the other: no send is.
  void await_no_sends() { awaits_no_sends_ = true; }
  /// Receives that must take more bytes than the trace says, by event.
  void make_room(Rooms::value_type rooms) { rooms_ = std::move(rooms); }
  /// Where files are; without, calls on files are left out.
  void use(Files files) { files_ = std::move(files); }
  /// Every buffer ends where nothing can be touched (guard.h).
  void guard();
  /// How many ranks of the job share the memory of this host.
  void share_memory(int ranks) { neighbours_ = ranks; }
  /// Makes the objects of unknown origin of several ranks, which `reader` finds. After `use`;
  /// collective over `comm`, whose ranks are the trace's.
  void make_known(Follower reader, MPI_Comm comm);
  /// A failed call is left out instead of ending the job.
  void tolerate_failures() { tolerant_ = true; }
  /// After the last event: completes requests still open as far as possible; how many are left.
  std::size_t drain();
  /// Gives up the requests that are left.
  void cancel_open();
  /// Grows with every event.
  const std::atomic<std::uint64_t>& progress() const { return progress_; }

  /// Replays one event and its computation.
  void step(const FollowedEvent& event);
  /// Replays the computation before an event that is the caller's to re-issue.
  void pass(const FollowedEvent& event);

  std::uint64_t events() const { return number_; }
  /// Events not re-issued, by the id of their call in the trace.
  const std::map<std::uint16_t, std::uint64_t>& left_out() const { return left_out_; }

 private:
  struct RequestState {
    MPI_Request handle = MPI_REQUEST_NULL;
    MPI_Request dormant = MPI_REQUEST_NULL;  ///< of a persistent wildcard receive
    bool persistent = false;
    bool active = false;
    bool unawaited = false;         ///< a send that no call waits for
    bool large = false;             ///< counts of the arguments are MPI_Count
    std::vector<Word> send;         ///< arguments of a persistent send
    std::vector<Word> receive;      ///< arguments of a persistent wildcard receive
    std::int64_t receive_comm = 0;  ///< id
    std::vector<Pool::Block> blocks;
  };
  static constexpr std::size_t kMostParams = 32;

  // decode.cpp
  bool decode();
  bool decode_scalar(std::size_t at);
  bool decode_array(std::size_t at);
  bool decode_buffer(std::size_t at);
  bool decode_end_point(std::size_t at);
  bool agree_on_leaders();
  void resolve_wildcard(std::size_t source);
  std::int64_t expected_length(const ParamPlan& param) const;
  bool span_of(const BufferPlan& plan, std::int64_t& low, std::int64_t& high, std::int64_t& bytes);
  bool send_as_bytes(const BufferPlan& plan, std::int64_t bytes);
  bool make_room(const ParamPlan& buffer, std::int64_t& high);
  bool at_root() const;
  bool moves(const BufferPlan& plan) const;
  bool arrives(const CallInfo& call) const;
  void* take(Pool& pool, std::uint64_t bytes, Pool::Use use = Pool::Use::kOwn);
  void refuse_memory(std::uint64_t more);

  // functions.cpp
  Word function_for(std::size_t at) const;
  static MPI_Op some_op(bool commutes);
  static MPI_Errhandler some_errhandler();

  // targets.cpp
  bool prepare_target();
  bool place_in_window();
  bool test_window();
  void prepare_file();
  void note_target();
  void note_window(CallId call);
  void note_file(CallId call);
  void set_errhandler(MPI_Errhandler handler);
  bool on_errhandler() const;
  std::uint64_t room_in_window() const;
  int find_param(std::string_view name) const;

  // unawaited.cpp
  bool is_unawaited(std::uint32_t part);
  bool leaves_sends() const { return awaits_no_sends_ || !unawaited_.empty(); }
  void send_unawaited(const Word* arguments, bool large, MPI_Comm comm);
  bool detach_send();
  void detach_completed();
  void keep(RequestState orphan);

  // requests.cpp
  bool prepare();
  void find_slots();
  bool prepare_completion();
  bool prepare_probe();
  bool start_wildcards();
  bool free_active();
  void abandon(RequestState& state);
  void update_requests();
  void poll(MPI_Request request, bool until_done);
  void sweep_orphans();
  RequestState* request(std::int64_t id);

  // interpreter.cpp
  bool load(const FollowedEvent& event);
  bool omitted(std::uint32_t part) const;
  void omit_event();
  void omit_partners();
  void fail_softly();
  void note_objects();
  void note_attached();
  void restore_split();
  void make_known();
  bool make_known_here(CallId call, std::int64_t id);
  void check(int code);
  std::int64_t value(int param) const;
  std::span<const std::int64_t> array(int param) const;
  Word& word(int param) { return words_[static_cast<std::size_t>(param)]; }

  const FollowPlan& follow_;
  const Follower& here_;
  const CallPlans& plans_;
  Pace& pace_;
  Reissue reissue_;
  Matches matches_;
  Pool payload_;   ///< sent from, never written
  Pool received_;  ///< received into
  Pool arrays_;
  Objects objects_;
  std::vector<RequestState> requests_;
  std::vector<RequestState> orphans_;  ///< freed while active
  Windows windows_;
  Files files_;
  /// Memory for buffered messages: that of the process, and by communicator and session.
  std::map<std::pair<Kind, std::int64_t>, Pool::Block> attached_;
  std::map<std::uint16_t, std::uint64_t> left_out_;
  std::uint64_t number_ = 0;
  std::atomic<std::uint64_t> progress_ = 0;
  std::vector<Omission> omissions_;
  std::size_t next_omission_ = 0;  ///< of the current event or a later one
  std::vector<Omission> unawaited_;
  std::size_t next_unawaited_ = 0;  ///< likewise
  Rooms::value_type rooms_;
  std::size_t sweep_at_ = 64;  ///< orphans that are looked through
  bool awaits_no_sends_ = false;
  bool tolerant_ = false;
  bool guarded_ = false;
  int neighbours_ = 1;              ///< ranks of this host, this one among them
  std::vector<KnownObject> known_;  ///< in the order of their events
  std::size_t next_known_ = 0;

  // The current event.
  const FollowedEvent* event_ = nullptr;
  const CallPlan* plan_ = nullptr;
  CommFacts comm_;
  std::int64_t comm_id_ = -1;
  bool significant_ = true;  ///< what only the root gives
  std::array<Word, kMostParams> words_{};
  std::array<Word, kMostParams> storage_{};  ///< what pointers to scalars point to
  std::vector<Pool::Block> owned_;
  std::vector<std::int64_t> slots_;
  std::vector<bool> masked_;  ///< requests hidden from the call
};

}  // namespace chameleon::replay
