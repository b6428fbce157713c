// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Requests, followed from posting to completion. Those that a call may complete are *claimed*
/// before it, because MPI may give a handle to another request at once.

#include "mpi/error_number.h"
#include "record/call_values.h"
#include "record/status_columns.h"

namespace chameleon::record {

/// What a receive is posted with, as far as its status will be compared with it.
template <CallId C, class... P>
inline RequestFacts posted_receive(CallValues<C, P...>& call) {
  using Call = CallTraits<C>;
  constexpr int source = last_of(Call::kCall, Kind::kSource);
  constexpr int tag = last_of(Call::kCall, Kind::kTag);
  constexpr int count = last_of(Call::kCall, Kind::kCount);
  constexpr int type = last_of(Call::kCall, Kind::kDatatype);
  const auto& args = call.args;
  RequestFacts facts;
  facts.receives = true;
  facts.comm = call.comm;
  if constexpr (source >= 0) facts.any_source = scalar<C, source>(args) == MPI_ANY_SOURCE;
  if constexpr (tag >= 0 && source >= 0) facts.any_tag = scalar<C, tag>(args) == kAnyTag;
  if constexpr (count >= 0 && type >= 0)
    facts.bytes = scalar<C, count>(args) * call.objects.type_bytes(std::get<type>(args));
  else if constexpr (Call::kTransfers)
    facts.bytes = kNotRecorded;  // the end of a split collective does not repeat its count
  // From nobody: the status is known, and MPICH leaves that of a request as it was.
  if constexpr (source >= 0) facts.receives = scalar<C, source>(args) != MPI_PROC_NULL;
  return facts;
}

/// The call made request `id`.
template <CallId C, class... P>
inline void post(CallValues<C, P...>& call, std::int64_t id) {
  using Call = CallTraits<C>;
  if (id < 0) return;
  RequestFacts& facts = call.objects.request(id);
  // The status of an Isendrecv's request says nothing: MPICH leaves it as it was.
  if constexpr ((Call::kReceives && !has(Call::kCall, Attribute::kSend)) || Call::kTransfers)
    facts = posted_receive(call);
  else
    facts = RequestFacts{};
  facts.persistent = has(Call::kCall, Attribute::kPersistent);
  facts.active = !facts.persistent;
}

template <CallId C, class... P>
inline std::int64_t request_count(const CallValues<C, P...>& call) {
  constexpr int kRequest = CallTraits<C>::kRequest;
  if constexpr (is_array(params(CallTraits<C>::kCall)[kRequest]))
    return readable_length<C, kRequest>(call.args, call.comm);
  return significant<C, kRequest>(call.args, call.comm) ? 1 : 0;
}

/// The call started persistent requests.
template <CallId C, class... P>
inline void start_requests(CallValues<C, P...>& call) {
  const auto* requests = std::get<CallTraits<C>::kRequest>(call.args);
  const std::int64_t count = request_count(call);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t id = call.objects.slots(Kind::kRequest).find(handle_bits(requests[i]));
    if (id >= 0) call.objects.request(id).active = true;
  }
}

/// The requests that a call may complete.
template <CallId C>
class Completion {
  using Call = CallTraits<C>;
  using Positions = boost::container::small_vector<std::int64_t, 16>;

 public:
  /// Before the call.
  template <class... P>
  void claim(CallValues<C, P...>& call) {
    const auto* requests = std::get<Call::kRequest>(call.args);
    claimed_.resize(static_cast<std::size_t>(request_count(call)), boost::container::default_init);
    Slots& slots = call.objects.slots(Kind::kRequest);
    for (std::size_t i = 0; i < claimed_.size(); ++i)
      claimed_[i] = slots.claim(handle_bits(requests[i]));
    if constexpr (Call::kIndex >= 0) {
      const auto named =
          call.objects.request_arrays().named({claimed_.data(), claimed_.size()}, slots);
      value_of<Call::kRequest>(call) = static_cast<std::int64_t>(call.objects.intern(named));
    } else if constexpr (is_array(params(Call::kCall)[Call::kRequest])) {
      value_of<Call::kRequest>(call) = intern(call.objects, claimed_);
    } else {
      value_of<Call::kRequest>(call) = claimed_.empty() ? kNotRecorded : claimed_[0];
    }
  }

  /// After it: what statuses tell is stored, and the requests that are gone are freed.
  template <class... P>
  void complete(CallValues<C, P...>& call) {
    if constexpr (Call::kManyStatuses) {
      store_statuses(call);
      store_errors(call);
    } else if constexpr (Call::kStatus >= 0) {
      store_the_status(call);
    }
    const auto* requests = std::get<Call::kRequest>(call.args);
    Slots& slots = call.objects.slots(Kind::kRequest);
    for (std::size_t i = claimed_.size(); i-- > 0;) {
      const std::int64_t id = claimed_[i];
      if (id < 0) continue;
      const bool gone = requests[i] == MPI_REQUEST_NULL && !call.objects.request(id).persistent;
      if (gone)
        slots.free_claimed(id);
      else
        slots.unclaim(id);
    }
  }

 private:
  template <class... P>
  static bool reports(const CallValues<C, P...>& call) {
    if (!took_place(Call::kCall, call.values[0])) return false;
    if constexpr (Call::kFlag >= 0) return *std::get<Call::kFlag>(call.args) != 0;
    return true;
  }

  /// Positions of the requests that the call reports, in the order of its statuses.
  template <class... P>
  Positions reported(const CallValues<C, P...>& call) const {
    Positions positions;
    if (!reports(call)) return positions;
    if constexpr (Call::kIndex >= 0) {
      const auto* indices = std::get<Call::kIndex>(call.args);
      if constexpr (is_array(params(Call::kCall)[Call::kIndex])) {
        const std::int64_t count = array_length<C, Call::kIndex>(call.args, call.comm);
        for (std::int64_t i = 0; i < count; ++i) positions.push_back(indices[i]);
      } else if (*indices != MPI_UNDEFINED) {
        positions.push_back(*indices);
      }
    } else {
      for (std::size_t i = 0; i < claimed_.size(); ++i)
        positions.push_back(static_cast<std::int64_t>(i));
    }
    return positions;
  }

  /// Whether the status of a request that is complete tells nothing, as is seen at a glance; if so
  /// the request is done with.
  bool completed_silently(Objects& objects, std::size_t position, const MPI_Status& status) {
    if (position >= claimed_.size() || claimed_[position] < 0) return true;
    RequestFacts& facts = objects.request(claimed_[position]);
    if (facts.active && facts.receives &&
        (facts.any_source || facts.any_tag || facts.cancelled ||
         status_bytes(status) != facts.bytes))
      return false;
    facts.active = false;
    return true;
  }

  /// What the status of a request that is complete tells.
  StatusValues completed(Objects& objects, std::size_t position, const MPI_Status& status) {
    if (completed_silently(objects, position, status)) return {};
    RequestFacts& facts = objects.request(claimed_[position]);
    facts.active = false;
    return encode_status(status, facts);
  }

  /// Whether the k-th request that the call reports has ended, and was not passed over for the
  /// error of another.
  template <class... P>
  static bool has_ended(const CallValues<C, P...>& call, std::size_t k) {
    return call.values[0] == 0 ||
           error_number(std::get<Call::kStatus>(call.args)[k].MPI_ERROR) != kErrPending;
  }

  /// The errors that a call gave with its statuses; none if it did not fail.
  template <class... P>
  void store_errors(CallValues<C, P...>& call) const {
    std::int64_t& stored = call.values[Call::kValues - 1];
    if (call.values[0] == 0) [[likely]] {
      stored = static_cast<std::int64_t>(call.objects.intern({}));
      return;
    }
    Positions errors;
    const MPI_Status* const statuses = std::get<Call::kStatus>(call.args);
    for (std::size_t k = 0, count = reported(call).size(); k < count; ++k)
      errors.push_back(error_number(statuses[k].MPI_ERROR));
    stored = intern(call.objects, errors);
  }

  template <class... P>
  void store_the_status(CallValues<C, P...>& call) {
    const MPI_Status* const status = std::get<Call::kStatus>(call.args);
    StatusValues values;
    for (const std::int64_t position : reported(call))
      values = completed(call.objects, static_cast<std::size_t>(position), *status);
    store_status(&value_of<Call::kStatus>(call), values);
  }

  template <class... P>
  void store_statuses(CallValues<C, P...>& call) {
    const MPI_Status* const statuses = std::get<Call::kStatus>(call.args);
    std::int64_t* const at = &value_of<Call::kStatus>(call);
    if constexpr (Call::kIndex < 0) {
      if (!reports(call)) return StatusColumns::store_none(call.objects, at);
      std::size_t k = 0;
      if (call.values[0] == 0) [[likely]]
        while (k < claimed_.size() && completed_silently(call.objects, k, statuses[k])) ++k;
      if (k == claimed_.size()) return StatusColumns::store_none(call.objects, at);
      StatusColumns columns;
      for (; k < claimed_.size(); ++k)
        if (has_ended(call, k)) columns.put(k, completed(call.objects, k, statuses[k]));
      columns.store(call.objects, at);
    } else {
      StatusColumns columns;
      const Positions positions = reported(call);
      for (std::size_t k = 0; k < positions.size(); ++k)
        if (has_ended(call, k))
          columns.put(k,
                      completed(call.objects, static_cast<std::size_t>(positions[k]), statuses[k]));
      columns.store(call.objects, at);
    }
  }

  boost::container::small_vector<std::int64_t, 16> claimed_;  ///< ids
};

}  // namespace chameleon::record
