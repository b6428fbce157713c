// SPDX-License-Identifier: BSD-3-Clause
#include "rank_calls.h"

#include <cassert>
#include <numeric>
#include <string_view>

#include "base/hash.h"
#include "model/end_point.h"
#include "mpi/event_layout.h"

namespace chameleon::tools {
namespace {

constexpr CallId kCalls[] = {CallId::kInit,       CallId::kBarrier,    CallId::kBcast,
                             CallId::kReduce,     CallId::kAllreduce,  CallId::kAlltoall,
                             CallId::kAlltoallv,  CallId::kSend,       CallId::kRecv,
                             CallId::kSendrecv,   CallId::kIsend,      CallId::kIrecv,
                             CallId::kWait,       CallId::kWaitall,    CallId::kCommSplit,
                             CallId::kCartCreate, CallId::kTypeVector, CallId::kTypeCommit};

constexpr int kAnyTag = -1;

std::int64_t id_of(const std::vector<std::int64_t>& elements) {
  return static_cast<std::int64_t>(array_id(elements));
}

}  // namespace

/// The fields of a call, and what they hold where nothing is said of them.
class RankCalls::Shape {
 public:
  explicit Shape(CallId call) : fields_(describe_call(*find_call(call)).fields) {
    for (const Field& field : fields_) plain_.push_back(plain(field));
  }

  /// The values of an event; what is given comes in the order of the fields.
  void fill(std::initializer_list<Given> given, std::vector<std::int64_t>& values) const {
    values = plain_;
    const Given* next = given.begin();
    for (std::size_t i = 0; i < fields_.size() && next != given.end(); ++i)
      if (fields_[i].name == next->field) values[i] = next++->value;
    assert(next == given.end());
  }

 private:
  static std::int64_t plain(const Field& field) {
    const std::string_view name = field.name;
    if (field.stored == FieldKind::kArray) return id_of({});
    if (field.stored == FieldKind::kEndPoint && name.ends_with(".source"))
      return pack_special(SpecialRank::kNone);
    if (name.ends_with(".tag") || name.ends_with(".bytes")) return kNotRecorded;
    return 0;
  }

  std::vector<Field> fields_;
  std::vector<std::int64_t> plain_;
};

std::vector<Predefined> predefined_types() {
  return {{"MPI_DOUBLE", 8}, {"MPI_INT", 4}, {"MPI_C_DOUBLE_COMPLEX", 16}};
}
std::vector<Predefined> predefined_operations() {
  return {{"MPI_SUM", 0}, {"MPI_MIN", 0}, {"MPI_MAX", 0}};
}

std::map<std::uint16_t, CallDescription> rank_call_descriptions() {
  std::map<std::uint16_t, CallDescription> all;
  for (const CallId call : kCalls)
    all.emplace(static_cast<std::uint16_t>(call), describe_call(*find_call(call)));
  return all;
}

std::int64_t PartnerRank::packed(Place place) const {
  if (rank_ == kAny) return pack_special(SpecialRank::kAnySource);
  if (rank_ < 0 || rank_ >= place.ranks) return pack_special(SpecialRank::kProcNull);
  return pack_rank(static_cast<std::int32_t>(rank_), static_cast<std::int32_t>(place.rank),
                   static_cast<std::int32_t>(place.ranks));
}

const RankCalls::Shape& RankCalls::shape(CallId call) {
  static const std::map<CallId, Shape> known = [] {
    std::map<CallId, Shape> all;
    for (const CallId one : kCalls) all.emplace(one, Shape(one));
    return all;
  }();
  return known.at(call);
}

RankCalls RankCalls::in(std::uint32_t function) const {
  RankCalls other = *this;
  other.function_ = mix(function_ + function + 1);
  return other;
}

void RankCalls::make(CallId call, std::uint32_t site, Times times,
                     std::initializer_list<Given> given) {
  static thread_local std::vector<std::int64_t> values;
  shape(call).fill(given, values);
  const std::uint64_t path = mix(function_ ^ (0x5157ULL + site));
  sink_->event({static_cast<std::uint16_t>(call), path, times.compute_ns, times.call_ns, values});
}

std::vector<std::int64_t> RankCalls::all_ranks() const {
  std::vector<std::int64_t> all(place_.ranks <= kMostWithArrays ? place_.ranks : 0);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void RankCalls::init() { make(CallId::kInit, 0, {0, 0}, {}); }

void RankCalls::barrier(std::uint32_t site) { make(CallId::kBarrier, site, {2000, 5000}, {}); }

void RankCalls::bcast(std::uint32_t site, int count, std::int64_t root) {
  make(CallId::kBcast, site, {2000, 5000},
       {{"count", count},
        {"datatype", object::kDouble},
        {"root", PartnerRank(root).packed(place_)}});
}

void RankCalls::reduce(std::uint32_t site, Message what, std::int64_t operation,
                       std::int64_t root) {
  make(CallId::kReduce, site, {2000, 5000},
       {{"count", what.count},
        {"datatype", what.type},
        {"op", operation},
        {"root", PartnerRank(root).packed(place_)}});
}

void RankCalls::allreduce(std::uint32_t site, Message what, std::int64_t operation) {
  make(CallId::kAllreduce, site, {100000, 30000},
       {{"count", what.count}, {"datatype", what.type}, {"op", operation}, {"comm", what.comm}});
}

void RankCalls::alltoall(std::uint32_t site, Message what) {
  make(CallId::kAlltoall, site, {50000, 80000},
       {{"sendcount", what.count},
        {"sendtype", what.type},
        {"recvcount", what.count},
        {"recvtype", what.type},
        {"comm", what.comm}});
}

void RankCalls::alltoallv(std::uint32_t site, std::int64_t type, std::vector<std::int64_t> sent,
                          std::vector<std::int64_t> received) {
  const auto offsets = [this](const std::vector<std::int64_t>& counts) {
    std::vector<std::int64_t> places(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), std::int64_t{0});
    return sink_->array(std::move(places));
  };
  const std::int64_t from = offsets(sent), to = offsets(received);
  make(CallId::kAlltoallv, site, {50000, 80000},
       {{"sendcounts", sink_->array(std::move(sent))},
        {"sdispls", from},
        {"sendtype", type},
        {"recvcounts", sink_->array(std::move(received))},
        {"rdispls", to},
        {"recvtype", type}});
}

void RankCalls::send(std::uint32_t site, PartnerRank to, Message what) {
  make(CallId::kSend, site, {2000, 5000},
       {{"count", what.count},
        {"datatype", what.type},
        {"dest", to.packed(place_)},
        {"tag", what.tag},
        {"comm", what.comm}});
}

void RankCalls::receive(std::uint32_t site, PartnerRank from, Message what) {
  make(CallId::kRecv, site, {1000, 20000},
       {{"count", what.count},
        {"datatype", what.type},
        {"source", from.packed(place_)},
        {"tag", what.tag},
        {"comm", what.comm}});
}

void RankCalls::receive_any(std::uint32_t site, PartnerRank from, Message what, std::int64_t source,
                            int tag) {
  const bool any = from.packed(place_) == PartnerRank::any().packed(place_);
  make(CallId::kRecv, site, {1000, 20000},
       {{"count", what.count},
        {"datatype", what.type},
        {"source", from.packed(place_)},
        {"tag", kAnyTag},
        {"comm", what.comm},
        {"status.source",
         any ? PartnerRank(source).packed(place_) : pack_special(SpecialRank::kNone)},
        {"status.tag", tag}});
}

void RankCalls::exchange(std::uint32_t site, PartnerRank to, PartnerRank from, Message what) {
  make(CallId::kSendrecv, site, {4000, 12000},
       {{"sendcount", what.count},
        {"sendtype", what.type},
        {"dest", to.packed(place_)},
        {"sendtag", what.tag},
        {"recvcount", what.count},
        {"recvtype", what.type},
        {"source", from.packed(place_)},
        {"recvtag", what.tag},
        {"comm", what.comm}});
}

void RankCalls::isend(std::uint32_t site, PartnerRank to, Message what, int request) {
  make(CallId::kIsend, site, {2000, 1000},
       {{"count", what.count},
        {"datatype", what.type},
        {"dest", to.packed(place_)},
        {"tag", what.tag},
        {"comm", what.comm},
        {"request", request}});
}

void RankCalls::irecv(std::uint32_t site, PartnerRank from, Message what, int request) {
  make(CallId::kIrecv, site, {2000, 1000},
       {{"count", what.count},
        {"datatype", what.type},
        {"source", from.packed(place_)},
        {"tag", what.tag},
        {"comm", what.comm},
        {"request", request}});
}

void RankCalls::wait(std::uint32_t site, int request) {
  make(CallId::kWait, site, {1000, 15000}, {{"request", request}});
}

void RankCalls::waitall(std::uint32_t site, int requests) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(requests));
  std::iota(ids.begin(), ids.end(), 0);
  make(CallId::kWaitall, site, {1000, 15000},
       {{"count", requests}, {"array_of_requests", sink_->array(std::move(ids))}});
}

void RankCalls::comm_split(std::uint32_t site, std::int64_t color, std::int64_t key,
                           std::int64_t created, std::vector<std::int64_t> members) {
  make(CallId::kCommSplit, site, {2000, 50000},
       {{"color", color},
        {"key", key},
        {"newcomm", created},
        {"members", sink_->array(std::move(members))}});
}

void RankCalls::cart_create(std::uint32_t site, std::vector<std::int64_t> dims,
                            std::vector<std::int64_t> periods, std::int64_t created) {
  make(CallId::kCartCreate, site, {2000, 50000},
       {{"ndims", static_cast<std::int64_t>(dims.size())},
        {"dims", sink_->array(std::move(dims))},
        {"periods", sink_->array(std::move(periods))},
        {"comm_cart", created},
        {"members", sink_->array(all_ranks())}});
}

void RankCalls::type_vector(std::uint32_t site, int count, int stride, std::int64_t created) {
  make(CallId::kTypeVector, site, {2000, 500},
       {{"count", count},
        {"blocklength", 1},
        {"stride", stride},
        {"oldtype", object::kDouble},
        {"newtype", created}});
  make(CallId::kTypeCommit, site + 1, {500, 500}, {{"datatype", created}});
}

}  // namespace chameleon::tools
