// SPDX-License-Identifier: BSD-3-Clause
#include "sent_bytes.h"

#include <algorithm>
#include <set>
#include <string>

#include "analysis/communicators.h"
#include "analysis/datatype_size.h"
#include "analysis/rank_streams.h"

namespace chameleon::tools {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// The name without case, largecount suffix and the I of nonblocking calls.
std::string plain_name(const std::string& name) {
  std::string plain = name.substr(0, ends_with(name, "_c") ? name.size() - 2 : name.size());
  for (char& letter : plain)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  if (plain.size() > 1 && name[0] == 'I' && name.compare(0, 4, "Init") != 0) plain.erase(0, 1);
  return plain;
}

/// Places of the scalar fields a message is described by.
struct MessageFields {
  int count = -1, type = -1, dest = -1;
  explicit MessageFields(const CallDescription& call) {
    for (std::size_t i = 0; i < call.fields.size(); ++i) {
      const Field& field = call.fields[i];
      if (field.stored == FieldKind::kArray) continue;
      if (field.kind == "count" && count < 0) count = static_cast<int>(i);
      if (field.kind == "datatype" && type < 0) type = static_cast<int>(i);
      if (field.kind == "dest" && dest < 0) dest = static_cast<int>(i);
    }
  }
};

enum class Way { kNothing, kSend, kReduction, kWalk };

Way way_of(const CallDescription& call) {
  const std::string name = plain_name(call.name);
  if (ends_with(name, "_init")) return Way::kNothing;
  const MessageFields fields(call);
  if (fields.dest >= 0) return fields.count >= 0 && fields.type >= 0 ? Way::kSend : Way::kNothing;
  for (const char* one : {"reduce", "allreduce", "scan", "exscan"})
    if (name == one) return Way::kReduction;
  for (const char* one :
       {"bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
        "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block"})
    if (name == one) return Way::kWalk;
  return Way::kNothing;
}

std::uint64_t product(std::int64_t count, std::int64_t size) {
  if (count <= 0 || size <= 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

/// Size of a predefined type, 0 for MPI_DATATYPE_NULL, `kUnknownSize` for derived ones.
std::int64_t predefined_size(const Trace& trace, std::int64_t id) {
  if (id == -1) return 0;
  const auto list = trace.predefined.find("datatype");
  const auto place = static_cast<std::uint64_t>(-2 - id);
  if (id > -2 || list == trace.predefined.end() || place >= list->second.size())
    return kUnknownSize;
  return list->second[place].size;
}

/// Sums count x size over iterations; false where a derived type occurs.
bool sum_sequences(const Trace& trace, const ValueSequence& counts, const ValueSequence& types,
                   const ValueSequence* dests, EndPointForm form, std::uint64_t& sum) {
  ValueSequence::Cursor count(counts), type(types);
  const ValueSequence nowhere;
  ValueSequence::Cursor dest(dests == nullptr ? nowhere : *dests);
  while (!count.done() && !type.done()) {
    std::uint64_t run = std::min(count.segment().count, type.segment().count);
    bool varies = count.segment().stride != 0 || type.segment().stride != 0;
    bool sends = true;
    if (dests != nullptr) {
      if (dest.done()) return false;
      run = std::min(run, dest.segment().count);
      varies = varies || dest.segment().stride != 0;
      sends = EndPoint{form, dest.segment().start}.special() == 0;
    }
    if (varies) run = 1;
    const std::int64_t size = predefined_size(trace, type.segment().start);
    if (size == kUnknownSize) return false;
    if (sends) sum += run * product(count.segment().start, size);
    count.skip(run);
    type.skip(run);
    if (dests != nullptr) dest.skip(run);
  }
  return true;
}

/// In the folded form; false if that cannot tell.
bool sum_folded(const Trace& trace, const Node& node, const CallDescription& call,
                const RankList& ranks, std::uint64_t& sum) {
  const MessageFields fields(call);
  const auto has = [&](int field) {
    return field >= 0 && static_cast<std::size_t>(field) < node.params.size();
  };
  if (!has(fields.count) || !has(fields.type)) return false;
  const auto param = [&](int field) -> const Param& {
    return node.params[static_cast<std::size_t>(field)];
  };
  bool known = true;
  const auto add = [&](const RankList& both, const ValueSequence& counts,
                       const ValueSequence& types, const ValueSequence* dests, EndPointForm form) {
    std::uint64_t one = 0;
    if (!both.empty()) known = known && sum_sequences(trace, counts, types, dests, form, one);
    sum += one * both.size();
  };
  param(fields.count)
      .for_each_group(ranks, [&](const RankList& a, EndPointForm, const ValueSequence& counts) {
        const RankList mine = a.intersection(ranks);
        param(fields.type)
            .for_each_group(ranks,
                            [&](const RankList& b, EndPointForm, const ValueSequence& types) {
                              const RankList both = mine.intersection(b);
                              if (both.empty()) return;
                              if (!has(fields.dest))
                                return add(both, counts, types, nullptr, EndPointForm::kBoth);
                              param(fields.dest)
                                  .for_each_group(ranks, [&](const RankList& c, EndPointForm form,
                                                             const ValueSequence& dests) {
                                    add(both.intersection(c), counts, types, &dests, form);
                                  });
                            });
      });
  return known;
}

/// Follows one rank's derived types and communicators, and sums what is asked for.
class RankWalk {
 public:
  RankWalk(const Trace& trace, std::uint32_t rank)
      : trace_(trace), communicators_(rank, trace.world_size, trace.threads) {}

  /// Follows an event; returns what it sends if `wanted`, `kUnknownSize` if it cannot tell.
  std::int64_t step(const CallDescription& call, const EventView& event, bool wanted) {
    call_ = &call;
    event_ = &event;
    std::int64_t sent = 0;
    if (wanted) sent = sends();
    if (const int created = field_index(call, "newtype"); created >= 0) follow_type(created);
    if (Communicators::changed_by(call)) communicators_.apply(trace_, call, event);
    return sent;
  }

 private:
  std::int64_t number(std::string_view name) const {
    const int field = field_index(*call_, name);
    return field < 0 ? 0 : event_->values[static_cast<std::size_t>(field)];
  }
  std::span<const std::int64_t> array(std::string_view name) const {
    return field_index(*call_, name) < 0 ? std::span<const std::int64_t>()
                                         : array_of(trace_, number(name));
  }
  std::int64_t size(std::int64_t type) const {
    if (type < 0) return predefined_size(trace_, type);
    const auto known = types_.find(type);
    return known == types_.end() ? kUnknownSize : known->second;
  }
  void follow_type(int created) {
    std::string_view name = call_->name;
    if (ends_with(name, "_c")) name.remove_suffix(2);
    types_[event_->values[static_cast<std::size_t>(created)]] = constructed_size(
        name, [&](const char* field) { return number(field); },
        [&](const char* field) { return array(field); },
        [&](std::int64_t type) { return size(type); });
  }
  std::int64_t blocks(std::int64_t count, std::int64_t type, std::int64_t copies = 1) const {
    const std::int64_t bytes = size(type);
    if (bytes == kUnknownSize) return kUnknownSize;
    return static_cast<std::int64_t>(product(count, bytes) * static_cast<std::uint64_t>(copies));
  }
  std::int64_t total(std::string_view counts) const {
    std::int64_t sum = 0;
    for (const std::int64_t count : array(counts)) sum += count;
    return sum;
  }
  bool is_root(const Communicator& comm) const {
    const int field = field_index(*call_, "root");
    if (field < 0) return false;
    const EndPoint root = event_->end_point(static_cast<std::size_t>(field));
    if (root.special() != 0) return root.special() == static_cast<std::int32_t>(SpecialRank::kRoot);
    return !comm.is_inter && root.rank(comm.self, comm.size()) == comm.self;
  }
  std::int64_t sends() const {
    const MessageFields fields(*call_);
    if (fields.dest >= 0) {
      const EndPoint dest = event_->end_point(static_cast<std::size_t>(fields.dest));
      return dest.special() == 0 ? blocks(event_->values[static_cast<std::size_t>(fields.count)],
                                          event_->values[static_cast<std::size_t>(fields.type)])
                                 : 0;
    }
    const Communicator* comm = communicators_.find(number("comm"));
    if (comm == nullptr) return kUnknownSize;
    const std::int64_t peers = comm->peers().count;
    const std::string name = plain_name(call_->name);
    if (name == "bcast") return is_root(*comm) ? blocks(number("count"), number("datatype")) : 0;
    if (name == "reduce_scatter") return blocks(total("recvcounts"), number("datatype"));
    if (name == "reduce_scatter_block")
      return blocks(number("recvcount"), number("datatype"), peers);
    const bool in_place = number("sendbuf") == 1;
    if (name == "scatter")
      return is_root(*comm) ? blocks(number("sendcount"), number("sendtype"), peers) : 0;
    if (name == "scatterv")
      return is_root(*comm) ? blocks(total("sendcounts"), number("sendtype")) : 0;
    if (name == "alltoallw") return in_place ? kUnknownSize : sum_of_types();
    if (name == "alltoallv")
      return in_place ? blocks(total("recvcounts"), number("recvtype"))
                      : blocks(total("sendcounts"), number("sendtype"));
    const std::int64_t copies = name == "alltoall" ? peers : 1;
    if (in_place && name == "allgatherv") return own_part(*comm);
    if (in_place) return blocks(number("recvcount"), number("recvtype"), copies);
    if (field_index(*call_, "sendcount") < 0) return blocks(number("count"), number("datatype"));
    return blocks(number("sendcount"), number("sendtype"), copies);
  }
  std::int64_t sum_of_types() const {
    const auto counts = array("sendcounts"), types = array("sendtypes");
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < counts.size() && i < types.size(); ++i) {
      const std::int64_t bytes = blocks(counts[i], types[i]);
      if (bytes == kUnknownSize) return kUnknownSize;
      sum += bytes;
    }
    return sum;
  }
  std::int64_t own_part(const Communicator& comm) const {
    const auto counts = array("recvcounts");
    const auto self = static_cast<std::size_t>(comm.self);
    return self < counts.size() ? blocks(counts[self], number("recvtype")) : kUnknownSize;
  }

  const Trace& trace_;
  Communicators communicators_;
  std::map<std::int64_t, std::int64_t> types_;
  const CallDescription* call_ = nullptr;
  const EventView* event_ = nullptr;
};

class Summation {
 public:
  explicit Summation(const Trace& trace) : trace_(trace) { fold(trace.nodes, trace.ranks); }

  SentBytes result() {
    if (left_.empty()) return std::move(sent_);
    if (trace_.event_count() > kMostWalked) {
      sent_.complete = false;
      return std::move(sent_);
    }
    plans_ = plan_calls(trace_);
    trace_.ranks_of(ranks_).for_each([&](std::uint32_t rank) { walk(rank); });
    return std::move(sent_);
  }

 private:
  void fold(const std::vector<Node>& nodes, const RankList& around) {
    for (const Node& node : nodes) {
      const RankList& ranks = node.ranks.empty() ? around : node.ranks;
      if (node.is_loop()) {
        fold(node.body, ranks);
        continue;
      }
      const auto call = trace_.calls.find(node.call);
      if (call == trace_.calls.end()) continue;
      const Way way = way_of(call->second);
      std::uint64_t sum = 0;
      if (way == Way::kNothing) continue;
      if (way != Way::kWalk && sum_folded(trace_, node, call->second, ranks, sum)) {
        sent_.bytes[&node] = sum;
      } else {
        left_.insert(&node);
        ranks_.merge(ranks);
      }
    }
  }

  void walk(std::uint32_t rank) {
    Result<RankStreams> streams = RankStreams::make(trace_, plans_, rank);
    if (!streams) {
      sent_.complete = false;
      return;
    }
    RankWalk state(trace_, rank);
    EventView event;
    while (streams->next(event)) {
      const auto call = trace_.calls.find(event.node->call);
      if (call == trace_.calls.end()) continue;
      const bool wanted = left_.contains(event.node);
      const std::int64_t sent = state.step(call->second, event, wanted);
      if (sent == kUnknownSize) sent_.complete = false;
      if (wanted && sent > 0) sent_.bytes[event.node] += static_cast<std::uint64_t>(sent);
    }
  }

  const Trace& trace_;
  SentBytes sent_;
  std::set<const Node*> left_;
  RankList ranks_;  ///< streams with events that are walked to
  std::vector<CallPlan> plans_;
};

}  // namespace

SentBytes sent_bytes(const Trace& trace) { return Summation(trace).result(); }

}  // namespace chameleon::tools
