// SPDX-License-Identifier: BSD-3-Clause
#include "world/mpi_world.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <new>
#include <utility>

namespace chameleon::world {
namespace {

// What a request that was given up still reads or writes must stay: it is leaked.
void abandon(Bytes& bytes) {
  union Kept {
    Bytes bytes;
    ~Kept() {}
  };
  const Kept kept{std::move(bytes)};
}

/// Where what a rank has no memory for is received to. Not touched, hence not resident, before.
alignas(64) std::uint8_t g_sink[MpiWorld::kMostPieceBytes];

constexpr unsigned kPollsBeforeYield = 200;
constexpr double kLongestNap = 1e-3;  // s
/// Naps take a part of the time waited so far, from some time on (s).
struct Naps {
  double from, part;
};
constexpr Naps kNaps{1e-4, 1.0 / 2}, kRareNaps{1e-2, 1.0 / 64};

void nap(double seconds) {
  const timespec time{0, static_cast<long>(seconds * 1e9)};
  ::nanosleep(&time, nullptr);
}

// Upwards each level waits a little longer than the one below, and downwards than the one
// above, so that who misses a rank first is the one next to it, and can name it.
double patience(double timeout, int levels) { return levels * std::max(timeout / 32, 0.05); }

}  // namespace

MpiWorld::MpiWorld(MPI_Comm comm, double timeout_seconds, std::size_t piece_bytes, Waiting waiting,
                   std::shared_ptr<MessagePacker> packer, WaitAccount* account)
    : comm_(comm),
      waits_{timeout_seconds, waiting, account},
      piece_bytes_(std::clamp<std::size_t>(piece_bytes, 1, kMostPieceBytes)),
      packer_(std::move(packer)) {
  int rank = 0, size = 1, found = 0;
  void* bound = nullptr;
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  if (PMPI_Comm_rank(comm_, &rank) != MPI_SUCCESS || PMPI_Comm_size(comm_, &size) != MPI_SUCCESS)
    failed_ = true;
  rank_ = static_cast<std::uint32_t>(rank);
  size_ = static_cast<std::uint32_t>(size);
  PMPI_Comm_get_attr(comm_, MPI_TAG_UB, &bound, &found);
  if (found != 0 && bound != nullptr)
    tags_ = std::max(tags_, std::min(*static_cast<int*>(bound), 1 << 30) / 3);
}

/// A message that refers to one which this rank could not keep is as lost as that one.
void MpiWorld::unpack(Bytes& bytes, const MessageKind& kind) {
  auto plain = packer_->unpack(kind, bytes);
  if (!plain) throw std::bad_alloc();
  bytes = std::move(*plain);
  attempt([&] { packer_->received(kind, bytes); });
}

void MpiWorld::begin_operation(std::uint32_t depth) {
  ++operation_;
  tag_ = tags_ + static_cast<int>(operation_ % static_cast<std::uint32_t>(tags_));
  traffic_.depth += depth;
  deadline_ = PMPI_Wtime() + waits_.timeout;
}

/// Ranks that are not in the subset do not count its operations: its tags are numbers of its own.
void MpiWorld::begin_subset_operation(std::uint32_t subset, std::uint32_t operation,
                                      std::uint32_t depth) {
  const auto tags = static_cast<std::uint32_t>(tags_);
  const std::uint32_t operations = 1U << ((std::bit_width(tags) - 1) / 2);
  const std::uint32_t subsets = tags / operations;
  tag_ = 2 * tags_ + static_cast<int>(subset % subsets * operations + operation % operations);
  traffic_.depth += depth;
  deadline_ = PMPI_Wtime() + waits_.timeout;
}

/// A wait for a message, from the first poll on that found nothing: one that is there costs no
/// reading of the clock.
class MpiWorld::Wait {
 public:
  explicit Wait(const MpiWorld& world) : world_(world) {}
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() {
    if (polls_ != 0 && world_.waits_.account != nullptr)
      world_.waits_.account->working += PMPI_Wtime() - since_;
  }

  /// A poll found nothing. Whether it is too late for another one.
  bool late() {
    const double now = PMPI_Wtime();
    if (++polls_ == 1) since_ = now;
    // On a machine with more ranks than cores the awaited one may need this core.
    const double waited = now - since_;
    const Naps& naps = world_.waits_.how == Waiting::kSleep ? kNaps : kRareNaps;
    if (waited > naps.from)
      nap(std::min(waited * naps.part, kLongestNap));
    else if (polls_ > kPollsBeforeYield)
      sched_yield();
    return now > world_.deadline_;
  }

 private:
  const MpiWorld& world_;
  unsigned polls_ = 0;
  double since_ = 0;
};

bool MpiWorld::wait(MPI_Request& request) {
  for (Wait waits(*this);;) {
    int done = 0;
    if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    if (done != 0) return true;
    if (waits.late()) break;
  }
  failed_ = true;
  return false;
}

bool MpiWorld::start(Sending& sending, std::uint32_t to, std::span<const std::uint8_t> bytes,
                     int tag) {
  for (bool more = true; more && !failed_;) {
    const std::size_t size = std::min(bytes.size(), piece_bytes_);
    MPI_Request& request = sending.requests.emplace_back(MPI_REQUEST_NULL);
    if (PMPI_Isend(bytes.data(), static_cast<int>(size), MPI_BYTE, static_cast<int>(to), tag, comm_,
                   &request) != MPI_SUCCESS)
      failed_ = true;
    bytes = bytes.subspan(size);
    more = size == piece_bytes_;
  }
  return !failed_;
}

bool MpiWorld::finish(Sending& sending) {
  for (MPI_Request& request : sending.requests)
    if (!wait(request)) return false;
  return true;
}

/// Piece by piece, to several ranks at once. Returns when the bytes may be used again.
bool MpiWorld::send_piece(std::span<const std::uint32_t> to, const std::uint8_t* data, int size) {
  std::array<MPI_Request, kMostChildren> requests;
  for (std::size_t i = 0; i < to.size() && !failed_; ++i)
    if (PMPI_Isend(data, size, MPI_BYTE, static_cast<int>(to[i]), operation_tag(), comm_,
                   &requests[i]) != MPI_SUCCESS)
      failed_ = true;
  for (std::size_t i = 0; i < to.size() && !failed_; ++i) wait(requests[i]);
  return !failed_;
}

void MpiWorld::send_pieces(std::span<const std::uint32_t> to, Bytes& bytes) {
  for (std::size_t i = 0; i < to.size(); ++i) traffic_.count(bytes.size());
  std::span<const std::uint8_t> rest = bytes;
  for (bool more = true; more;) {
    const std::size_t size = std::min(rest.size(), piece_bytes_);
    if (!send_piece(to, rest.data(), static_cast<int>(size))) return abandon(bytes);
    rest = rest.subspan(size);
    more = size == piece_bytes_;
  }
}

void MpiWorld::send(std::uint32_t to, Bytes& bytes) { send_pieces({&to, 1}, bytes); }

bool MpiWorld::receive_to(int from, int tag, int size, std::uint8_t* data) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Irecv(data, size, MPI_BYTE, from, tag, comm_, &request) == MPI_SUCCESS)
    return wait(request);
  failed_ = true;
  return false;
}

bool MpiWorld::receive_piece(int from, int tag, int size, Bytes& bytes) {
  const std::size_t before = bytes.size();
  bytes.resize(before + static_cast<std::size_t>(size));
  if (receive_to(from, tag, size, bytes.data() + before)) return true;
  abandon(bytes);
  return false;
}

/// The size of the next piece from a rank; below 0 if none comes.
int MpiWorld::await_piece(int from, int tag) {
  for (Wait waits(*this); !failed_;) {
    int found = 0, size = 0;
    MPI_Status status;
    if (PMPI_Iprobe(from, tag, comm_, &found, &status) != MPI_SUCCESS) break;
    if (found != 0) {
      PMPI_Get_count(&status, MPI_BYTE, &size);
      return size;
    }
    if (waits.late()) break;
  }
  failed_ = true;
  return -1;
}

/// Receives a value, of which f(data, size) sees each piece. False if the sender has none, or this
/// rank no memory for it.
template <class F>
bool MpiWorld::receive_pieces(std::uint32_t from, Bytes& bytes, F each) {
  const int source = static_cast<int>(from), tag = operation_tag();
  bool whole = true;
  for (bool first = true;; first = false) {
    const int size = await_piece(source, tag);
    if (size < 0) return false;
    if (first && size == 0) whole = false;
    const std::size_t before = bytes.size();
    whole = whole && attempt([&] { bytes.resize(before + static_cast<std::size_t>(size)); });
    std::uint8_t* const data = whole ? bytes.data() + before : g_sink;
    if (!receive_to(source, tag, size, data) || !each(data, size)) {
      abandon(bytes);
      return false;
    }
    if (static_cast<std::size_t>(size) < piece_bytes_) return whole;
  }
}

bool MpiWorld::receive(std::uint32_t from, Bytes& bytes) {
  return receive_pieces(from, bytes, [](const std::uint8_t*, int) { return true; });
}

/// Passes a value on as it comes. Whether this rank has it.
bool MpiWorld::pass_on(std::uint32_t parent, std::span<const std::uint32_t> to, Bytes& bytes) {
  std::uint64_t all = 0;
  const bool whole = receive_pieces(parent, bytes, [&](const std::uint8_t* data, int size) {
    all += static_cast<std::uint64_t>(size);
    return send_piece(to, data, size);
  });
  for (std::size_t i = 0; i < to.size(); ++i) traffic_.count(all);
  return whole;
}

/// Without memory for requests, which no value then needs, messages are empty and go one by one.
void MpiWorld::start_planned(std::span<const Transfer> plan, Bytes& mine, Sending& sending) {
  begin_operation(plan.empty() ? 0 : 1);
  const auto owed = [&](const Transfer& each) { return each.from == rank_ && each.to != rank_; };
  const auto messages = static_cast<std::size_t>(std::count_if(plan.begin(), plan.end(), owed));
  const std::size_t pieces = mine.size() / piece_bytes_ + 1;
  const bool whole = attempt([&] { sending.requests.reserve(messages * pieces); });
  for (const Transfer& each : plan) {
    if (!owed(each) || failed_) continue;
    if (!whole) {
      small_send(each.to, 0, operation_tag(), deadline_);
      continue;
    }
    traffic_.count(mine.size());
    start(sending, each.to, mine, operation_tag());
  }
}

/// False if the world has failed; then MPI may still read what was to be sent.
bool MpiWorld::finish_planned(Sending& sending, Bytes& mine) {
  if (!failed_ && finish(sending)) return true;
  abandon(mine);
  return false;
}

void MpiWorld::drain() {
  for (bool more = true; more;) {
    int found = 0, size = 0;
    MPI_Status status;
    more = PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, &status) == MPI_SUCCESS &&
           found != 0;
    deadline_ = PMPI_Wtime() + waits_.timeout;
    if (more) PMPI_Get_count(&status, MPI_BYTE, &size);
    if (more) more = receive_to(status.MPI_SOURCE, status.MPI_TAG, size, g_sink);
  }
}

// A vote that was lost travels as a message of `SmallVote::kLost` bytes, which no vote has; it
// begins with the rank that is missing.

void MpiWorld::begin_vote(int tag, int next_tag, std::size_t size, SmallVote::Combine combine) {
  traffic_.depth += 2 * tree_depth(size_);
  SmallVote& vote = small_.vote;
  vote = {};
  vote.tag = tag;
  vote.next_tag = next_tag;
  vote.size = size;
  vote.combine = combine;
  vote.over = false;
  vote.begin = PMPI_Wtime();
  vote.timeout = waits_.timeout;
  if (!failed_) return;
  // A rank that gave an operation up does not wait in votes, but those who wait for it are told: a
  // wait may have no end.
  tell_lost(tag);
  vote.missing = rank_;
  vote.lost = vote.over = true;
}

Absent MpiWorld::absent(bool ready, Rounds rounds) {
  begin_operation(0);
  Absent all = ready ? Absent{} : Absent::one(rank_);
  all.rounds = rounds;
  std::uint32_t missing = 0;
  const auto add = [](Absent& mine, Absent&& theirs) { mine.add(theirs); };
  const int tag = operation_tag();
  begin_vote(tag, kNoTag, sizeof all, combine_messages<Absent>(add));
  small_.vote.set(all);
  if (!await_vote(waits_.timeout, missing)) failed_ = true;
  small_.vote.get(all);
  return all;
}

bool MpiWorld::receive_reading(std::uint32_t from, ClockReading& reading) {
  if (small_receive(from, sizeof reading, operation_tag(), deadline_) != sizeof reading)
    return !(failed_ = true);
  std::memcpy(&reading, small_.in.data(), sizeof reading);
  return true;
}

bool MpiWorld::small_send(std::uint32_t to, std::size_t size, int tag, double deadline) {
  traffic_.count(size);
  deadline_ = deadline;
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Isend(small_.out.data(), static_cast<int>(size), MPI_BYTE, static_cast<int>(to), tag,
                 comm_, &request) != MPI_SUCCESS)
    return !(failed_ = true);
  return wait(request);
}

/// Bytes received into `small_.in`; -1 when late.
int MpiWorld::small_receive(std::uint32_t from, std::size_t size, int tag, double deadline) {
  deadline_ = deadline;
  MPI_Status status;
  for (Wait waits(*this);;) {
    int found = 0;
    if (PMPI_Iprobe(static_cast<int>(from), tag, comm_, &found, &status) != MPI_SUCCESS) return -1;
    if (found != 0) break;
    if (waits.late()) return -1;
  }
  int received = -1;
  if (PMPI_Recv(small_.in.data(), static_cast<int>(std::max(size, SmallVote::kLost)), MPI_BYTE,
                static_cast<int>(from), tag, comm_, &status) != MPI_SUCCESS)
    return -1;
  PMPI_Get_count(&status, MPI_BYTE, &received);
  return received;
}

bool MpiWorld::came(std::uint32_t from) const {
  int found = 0;
  return PMPI_Iprobe(static_cast<int>(from), small_.vote.tag, comm_, &found, MPI_STATUS_IGNORE) !=
             MPI_SUCCESS ||
         found != 0;
}

void MpiWorld::collect_from(std::uint32_t child) {
  SmallVote& vote = small_.vote;
  if (vote.lost) return;
  const int levels = static_cast<int>(tree_depth(child - rank_)) + 1;
  const double deadline = vote.begin + vote.timeout + patience(vote.timeout, levels);
  const int received = small_receive(child, vote.size, vote.tag, deadline);
  vote.lost = received != static_cast<int>(vote.size);
  if (!vote.lost) return vote.combine(vote.value.data(), small_.in.data());
  vote.missing = child;
  if (received > 0) std::memcpy(&vote.missing, small_.in.data(), sizeof vote.missing);
}

/// A child that has left the votes gave this one up before this rank came to it.
void MpiWorld::look_for_leave(std::uint32_t child) {
  SmallVote& vote = small_.vote;
  if (vote.lost || vote.next_tag == kNoTag) return;
  int found = 0;
  if (PMPI_Iprobe(static_cast<int>(child), vote.next_tag, comm_, &found, MPI_STATUS_IGNORE) !=
      MPI_SUCCESS)
    failed_ = true;
  vote.lost = found != 0 || failed_;
  if (vote.lost) vote.missing = child;
}

/// False if a child has not come yet.
bool MpiWorld::collect_children(Advance how) {
  SmallVote& vote = small_.vote;
  std::uint32_t count = 0;
  bool all = true;
  walk_up(
      rank_, size_,
      [&](std::uint32_t child) {
        if (count++ < vote.heard || !all) return;
        all = how == Advance::kToTheEnd || vote.lost || came(child);
        if (!all) return;
        collect_from(child);
        ++vote.heard;
      },
      [](std::uint32_t) {});
  return all;
}

/// The vote's value, or that it is lost.
std::size_t MpiWorld::write_vote(SmallVote::Message& message) const {
  const SmallVote& vote = small_.vote;
  message = vote.value;
  if (!vote.lost) return vote.size;
  std::memcpy(message.data(), &vote.missing, sizeof vote.missing);
  return SmallVote::kLost;
}

/// A vote that is collected is waited for in any case. Else nobody waits for the message to arrive:
/// where MPI does not buffer it, its receiver may be inside MPI until this rank goes on.
void MpiWorld::send_vote(const SmallVote::Message& message, std::size_t size, std::uint32_t to,
                         Advance how) {
  traffic_.count(size);
  if (PMPI_Isend(message.data(), static_cast<int>(size), MPI_BYTE, static_cast<int>(to),
                 small_.vote.tag, comm_, &small_.sends[small_.sending]) != MPI_SUCCESS)
    failed_ = true;
  else
    ++small_.sending;
  if (how == Advance::kToTheEnd) finish_vote_sends();
}

void MpiWorld::finish_vote_sends() {
  deadline_ = PMPI_Wtime() + small_.vote.timeout;
  while (small_.sending > 0) wait(small_.sends[--small_.sending]);
}

void MpiWorld::learn_result(std::uint32_t parent) {
  SmallVote& vote = small_.vote;
  const double waited = 2 * vote.timeout + patience(vote.timeout, std::popcount(rank_));
  const int received = small_receive(parent, vote.size, vote.tag, vote.begin + waited);
  if (received == static_cast<int>(vote.size)) {
    vote.value = small_.in;
    return;
  }
  vote.lose(parent);
  if (received > 0) std::memcpy(&vote.missing, small_.in.data(), sizeof vote.missing);
}

/// Children first, then the parent, then what that says goes to the children. False if the next of
/// them has not come, and is not waited for.
bool MpiWorld::advance(Advance how) {
  SmallVote& vote = small_.vote;
  if (vote.over) return true;
  if (!collect_children(how)) return false;
  std::uint32_t children[kMostChildren], count = 0, parent = 0;
  walk_up(
      rank_, size_, [&](std::uint32_t child) { children[count++] = child; },
      [&](std::uint32_t above) { parent = above; });
  if (!std::exchange(vote.sent, true)) {
    for (std::uint32_t i = 0; i < count; ++i) look_for_leave(children[i]);
    if (rank_ != 0) send_vote(small_.up, write_vote(small_.up), parent, how);
    if (failed_) vote.lose(parent);
  }
  if (rank_ != 0 && !failed_) {
    if (how == Advance::kAsFarAsItGoes && !came(parent)) return false;
    learn_result(parent);
  }
  const std::size_t size = write_vote(small_.down);
  while (count > 0) send_vote(small_.down, size, children[--count], how);
  return vote.over = true;
}

bool MpiWorld::await_vote(double timeout, std::uint32_t& missing) {
  SmallVote& vote = small_.vote;
  vote.begin = PMPI_Wtime();
  vote.timeout = timeout;
  advance(Advance::kToTheEnd);
  finish_vote_sends();
  if (vote.lost) missing = vote.missing;
  return !vote.lost;
}

/// What the rank waits here is for votes of others. Rank 0 gives up first.
bool MpiWorld::collect_vote(double timeout, std::uint32_t& missing) {
  const double before = waits_.account == nullptr ? 0 : waits_.account->working;
  const double patience = timeout + (rank_ == 0 ? 0.0 : std::min(1.0, timeout / 2));
  const bool whole = await_vote(patience, missing);
  if (waits_.account != nullptr)
    waits_.account->voting += std::exchange(waits_.account->working, before) - before;
  return whole;
}

void MpiWorld::leave_votes(std::uint32_t sequence) { tell_lost(vote_tag(sequence)); }

/// The ranks beside this one in the tree learn that a vote is lost.
void MpiWorld::tell_lost(int tag) {
  small_.out.fill(0);
  std::memcpy(small_.out.data(), &rank_, sizeof rank_);
  const auto tell = [&](std::uint32_t neighbour) {
    small_send(neighbour, SmallVote::kLost, tag, PMPI_Wtime() + waits_.timeout);
  };
  walk_up(rank_, size_, tell, tell);
}

}  // namespace chameleon::world
