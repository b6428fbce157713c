// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// From the arguments of one MPI call to the values of its event: a function per kind of
/// parameter, driven by the table, before and after the call. A call with a key (call_key.h) may
/// do without: its event is looked up by the key.

#include "mpi/call_meaning.h"
#include "mpi/error_number.h"
#include "record/call_key.h"
#include "record/call_values.h"
#include "record/own_statuses.h"
#include "record/receive_effects.h"
#include "record/request_values.h"

namespace chameleon::record {

template <CallId C, class... P>
class CallRecord {
  using Call = CallTraits<C>;
  static constexpr const CallInfo& kCall = Call::kCall;
  using Args = std::tuple<P...>;

 public:
  static constexpr bool kEarly = Call::kEarly;  ///< `before` must precede the call
  static constexpr bool kKeyed = Call::kKeyed;

  CallRecord(Objects& objects, P... p) : call_(objects, p...) {}

  /// In any case before the call: what MPI gets in place of the program's.
  void own_statuses() { statuses_.pass(call_); }

  /// The same for a call with a key: `own`, so that nothing else of this has an address.
  [[gnu::always_inline]] void own_status(MPI_Status& own) {
    if constexpr (Call::kStatus >= 0 && Call::kReceives && !Call::kPosts) {
      auto*& status = std::get<Call::kStatus>(call_.args);
      if (status != MPI_STATUS_IGNORE) return;
      own = untouched_status();
      status = &own;
    }
  }

  Args& args() { return call_.args; }
  const CommShape& comm() const { return call_.comm; }
  std::int64_t made() const { return made_; }
  const std::array<std::int64_t, Call::kValues>& values() const { return call_.values; }

  /// After the call, before its key is asked for: the request it made has an id.
  [[gnu::always_inline]] void make(int code) {
    if constexpr (Call::kPosts) {
      if (code != MPI_SUCCESS) return;
      look_at_comm();
      const auto handle = static_cast<std::uint64_t>(scalar<C, Call::kRequest>(call_.args));
      made_ = call_.objects.slots(Kind::kRequest).create(handle);
      post(call_, made_);
    }
  }

  [[gnu::always_inline]] bool has_key(const std::int64_t* key, std::uint64_t objects) const {
    return record::has_key(call_, made_, objects, key);
  }
  auto key(std::uint64_t objects) const { return key_of(call_, made_, objects); }

  /// After the call: the room for a message that it receives or will, or the type that it made.
  ReceiveRoom room() const {
    ReceiveRoom room;
    constexpr int count = last_of(kCall, Kind::kCount), type = last_of(kCall, Kind::kDatatype);
    constexpr int made = made_datatype(kCall);
    if (call_.values[0] != 0) return room;
    if constexpr (made >= 0) {
      room.element_bytes = call_.objects.type_bytes(*std::get<made>(call_.args));
    } else if constexpr (Call::kReceives && count >= 0 && type >= 0) {
      room.elements = scalar<C, count>(call_.args);
      room.element_bytes = call_.objects.type_bytes(std::get<type>(call_.args));
      if constexpr (has(kCall, Attribute::kPartitioned))
        room.elements *= scalar<C, first_of(kCall, Kind::kInt)>(call_.args);
    }
    return room;
  }

  [[gnu::always_inline]] void look_at_comm() { record::look_at_comm(call_); }

  void before() {
    call_.values.fill(0);
    look_at_comm();
    each_argument(call_.args, [&]<int I>() { this->template before_param<I>(); });
    // Not afterwards: another thread may have got the handle for a type of its own.
    if constexpr (C == CallId::kTypeFree) call_.objects.forget_type();
  }

  void after(int code) {
    call_.values[0] = error_number(code);
    const bool ok = took_place(kCall, call_.values[0]);
    if constexpr (kClaims) completion_.complete(call_);
    each_argument(call_.args, [&]<int I>() { this->template after_param<I>(ok); });
    if constexpr ((Call::kReceives || Call::kTransfers) && !Call::kPosts) receive(ok);
    if constexpr (Call::kProbes) probe(ok);
    if constexpr (has(kCall, Attribute::kStarts))
      if (ok) start_requests(call_);
    if constexpr (creates_communicator(kCall)) new_communicator(ok);
  }

  /// `after`, where `make` gave `made`.
  void after_making(std::int64_t made, int code) {
    made_ = made;
    after(code);
  }

 private:
  static constexpr bool kClaims = Call::kCompletes && Call::kRequest >= 0;

  template <int I>
  std::int64_t& value() {
    return value_of<I>(call_);
  }
  template <int I>
  std::uint64_t handle() const {
    return static_cast<std::uint64_t>(scalar<C, I>(call_.args));
  }

  template <int I>
  void before_param() {
    constexpr const ParamInfo& param = params(kCall)[I];
    using T = std::tuple_element_t<I, Args>;
    if constexpr (param.kind == Kind::kStatus) {
      if constexpr (stored_values(param) != 0) no_status<I>();
    } else if constexpr (stored_values(param) == 0) {
    } else if constexpr (param.kind == Kind::kBuffer) {
      value<I>() = static_cast<std::int64_t>(buffer_class(std::get<I>(call_.args)));
    } else if constexpr (param.kind == Kind::kPointer || param.kind == Kind::kFunction) {
      value<I>() = (const void*)std::get<I>(call_.args) == nullptr ? 0 : 1;
    } else if constexpr (param.kind == Kind::kString) {
      encode_string<I>(call_);
    } else if constexpr (I == Call::kRequest && Call::kCompletes && std::is_pointer_v<T>) {
      completion_.claim(call_);
    } else if constexpr (param.direction == Direction::kOut) {
    } else if constexpr (is_array(param) && std::is_pointer_v<T>) {
      if constexpr (param.direction == Direction::kIn || is_object(param.kind))
        encode_array<I>(call_);
    } else if constexpr (is_object(param.kind)) {
      object_before<I>();
    } else if constexpr (param.direction == Direction::kIn) {
      if (significant<C, I>(call_.args, call_.comm))
        encode_number<I>(call_, scalar<C, I>(call_.args));
      else
        value<I>() = kNotRecorded;
    }
  }

  template <int I>
  void after_param(bool ok) {
    constexpr const ParamInfo& param = params(kCall)[I];
    using T = std::tuple_element_t<I, Args>;
    if constexpr (stored_values(param) == 0 || param.kind == Kind::kStatus ||
                  param.kind == Kind::kBuffer || param.kind == Kind::kPointer ||
                  param.kind == Kind::kFunction || param.kind == Kind::kString) {
    } else if constexpr (is_object(param.kind) && !is_array(param)) {
      if constexpr (param.direction == Direction::kOut)
        new_object<I>(ok);
      else if constexpr (param.direction == Direction::kInOut && Call::kFrees)
        free_object<I>(ok);
    } else if constexpr (param.direction != Direction::kIn) {
      if constexpr (is_array(param) && std::is_pointer_v<T>) {
        if constexpr (param.direction == Direction::kOut || !is_object(param.kind)) {
          if (ok)
            encode_array<I>(call_);
          else
            value<I>() = static_cast<std::int64_t>(call_.objects.intern({}));
        }
      } else {
        encode_number<I>(call_, ok && is_set<C, I>(call_.args) ? scalar<C, I>(call_.args) : 0);
      }
    }
  }

  // -- objects

  template <int I>
  void object_before() {
    constexpr const ParamInfo& param = params(kCall)[I];
    if (!significant<C, I>(call_.args, call_.comm)) {
      value<I>() = kNotRecorded;
      return;
    }
    Slots& slots = call_.objects.slots(param.kind);
    const std::uint64_t handle = this->template handle<I>();
    if constexpr (Call::kFrees && param.direction == Direction::kInOut) {
      if constexpr (param.kind != Kind::kRequest) call_.objects.change();
      freed_handle_ = handle;
      value<I>() = slots.claim(handle);
    } else {
      value<I>() = slots.find(handle);
    }
    if constexpr (param.kind == Kind::kRequest && has(kCall, Attribute::kCancels))
      call_.objects.request(value<I>()).cancelled = true;
  }

  template <int I>
  void free_object(bool ok) {
    constexpr Kind kind = params(kCall)[I].kind;
    Slots& slots = call_.objects.slots(kind);
    if (!significant<C, I>(call_.args, call_.comm)) return;
    if (ok)
      slots.free_claimed(value<I>());
    else
      slots.unclaim(value<I>());
    if constexpr (kind == Kind::kComm)
      if (ok) call_.objects.forget_comm(handle_of<MPI_Comm>(freed_handle_));
  }

  template <int I>
  void new_object(bool ok) {
    constexpr Kind kind = params(kCall)[I].kind;
    value<I>() = -1;
    if (!ok || !is_set<C, I>(call_.args)) return;
    if constexpr (kKeyed) {
      value<I>() = made_;
    } else {
      Slots& slots = call_.objects.slots(kind);
      const std::uint64_t handle = this->template handle<I>();
      if constexpr (kind != Kind::kRequest) call_.objects.change();
      if constexpr (kind == Kind::kErrhandler) see_error_handler();
      if constexpr (kind == Kind::kRequest && Call::kPosts) {
        value<I>() = slots.create(handle);
        post(call_, value<I>());
      } else if constexpr (has(kCall, Attribute::kCreates)) {
        if (!is_asked_for(kind) || !hides(call_.objects, C)) value<I>() = slots.create(handle);
      } else {
        value<I>() = slots.find(handle);
      }
    }
  }

  void new_communicator(bool ok) {
    Objects& objects = call_.objects;
    std::int64_t& members = call_.values[Call::kValues - 1];
    if (!ok) {
      members = static_cast<std::int64_t>(objects.intern({}));
      return;
    }
    const MPI_Comm made = *std::get<output_of(kCall, Kind::kComm)>(call_.args);
    if constexpr (has(kCall, Attribute::kNonblocking)) {
      // Not usable before its request completes, and like its parent.
      members = intern(objects, communicator_members(std::get<Call::kComm>(call_.args)));
      objects.learn_comm(made, call_.comm);
    } else {
      members = intern(objects, communicator_members(made));
      if (made != MPI_COMM_NULL) objects.learn_comm(made, query_comm(made));
    }
  }

  // -- statuses

  template <int I>
  void no_status() {
    std::int64_t* const at = &value<I>();
    if constexpr (is_array(params(kCall)[I]))
      at[0] = at[1] = at[2] = static_cast<std::int64_t>(call_.objects.intern({}));
    else
      store_status(at, StatusValues{});
  }

  void receive(bool ok) {
    if constexpr (Call::kStatus >= 0)
      store_status(&value<Call::kStatus>(),
                   ok ? encode_status(*std::get<Call::kStatus>(call_.args), posted_receive(call_))
                      : StatusValues{});
  }

  void probe(bool ok) {
    if constexpr (Call::kFlag >= 0) ok = ok && *std::get<Call::kFlag>(call_.args) != 0;
    StatusValues values;
    if (ok) {
      RequestFacts facts = posted_receive(call_);
      facts.bytes = kNotRecorded;
      values = encode_status(*std::get<Call::kStatus>(call_.args), facts);
    }
    store_status(&value<Call::kStatus>(), values);
  }

  struct Nothing {};

  CallValues<C, P...> call_;
  std::uint64_t freed_handle_ = 0;
  std::int64_t made_ = -1;  ///< the request's id
  OwnStatuses<C> statuses_;
  std::conditional_t<kClaims, Completion<C>, Nothing> completion_;
};

}  // namespace chameleon::record
