// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// From the arguments of one MPI call to the values of its event: a function
/// per kind of parameter, driven by the table, before and after the call.
/// Handles become symbolic ids, end-points relative and absolute at once, arrays
/// entries of the array table; requests are followed from posting to completion.
///
/// Most events are as one before. What the values of a call without arrays are made from is its
/// *key*: arguments, what the call returned, the request it made, and how often objects changed.
/// With the key of a known event nothing needs to be encoded.

#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>

#include "mpi/event_layout.h"
#include "record/objects.h"
#include "record/significance.h"
#include "record/status_values.h"

namespace chameleon::record {

template <CallId C, class... P>
class CallRecord {
  static constexpr const CallInfo& kCall = *find_call(C);
  static constexpr std::size_t kValues = stored_values(kCall);
  static constexpr bool kReceives = has(kCall, Attribute::kRecv);
  static constexpr bool kProbes = has(kCall, Attribute::kProbe);
  static constexpr bool kCompletes = has(kCall, Attribute::kCompletes);
  static constexpr bool kPosts = has(kCall, Attribute::kNonblocking | Attribute::kPersistent);
  static constexpr bool kFrees = has(kCall, Attribute::kFrees);
  /// Moves data of a file: its status tells the bytes.
  static constexpr bool kTransfers = transfers_file_data(kCall);
  static constexpr int kComm = first_of(kCall, Kind::kComm);
  static constexpr int kRequest = first_of(kCall, Kind::kRequest);
  static constexpr int kStatus = output_of(kCall, Kind::kStatus);
  static constexpr int kFlag = output_of(kCall, Kind::kFlag);
  static constexpr int kIndex = output_of(kCall, Kind::kIndex);
  using Args = std::tuple<P...>;

 public:
  /// Whether `before` must precede the call: it changes a handle that is recorded.
  /// Elsewhere it is as good afterwards, in the same breath as `after`.
  static constexpr bool kEarly = [] {
    if (has(kCall, Attribute::kCompletes | Attribute::kFrees | Attribute::kCancels |
                       Attribute::kFinalize | Attribute::kAbort))
      return true;
    for (const ParamInfo& param : params(kCall))
      if (param.direction == Direction::kInOut && param.kind != Kind::kBuffer &&
          stored_values(param) != 0)
        return true;
    return false;
  }();

  /// Whether it has a key.
  static constexpr bool kKeyed = [] {
    if (kEarly || kProbes || kTransfers || creates_communicator(kCall) ||
        has(kCall, Attribute::kPersistent | Attribute::kStarts | Attribute::kInit))
      return false;
    for (const ParamInfo& param : params(kCall)) {
      if (stored_values(param) == 0 || param.kind == Kind::kBuffer) continue;
      const bool made = kPosts && param.kind == Kind::kRequest;
      if (is_array(param) || param.kind == Kind::kString || param.kind == Kind::kPointer ||
          param.kind == Kind::kFunction || (param.kind == Kind::kRequest && !made) ||
          (param.direction != Direction::kIn && param.kind != Kind::kStatus && !made))
        return false;
    }
    return true;
  }();

  CallRecord(Objects& objects, P... p) : objects_(objects), args_(p...) {}

  /// In any case before the call: a status of the tool's own where the program has none.
  void own_statuses() {
    each([&]<int I>() {
      constexpr const ParamInfo& param = params(kCall)[I];
      if constexpr (param.kind == Kind::kStatus && param.direction == Direction::kOut &&
                    (kReceives || kProbes || kCompletes || kTransfers) && !kPosts)
        own_status<I>();
    });
  }

  /// The same for a call with a key: `own`, so that nothing else of this has an address.
  [[gnu::always_inline]] void own_status(MPI_Status& own) {
    if constexpr (kStatus >= 0 && kReceives && !kPosts)
      if (std::get<kStatus>(args_) == MPI_STATUS_IGNORE) std::get<kStatus>(args_) = &own;
  }

  Args& args() { return args_; }
  const CommShape& comm() const { return comm_; }
  std::int64_t made() const { return made_; }
  const std::array<std::int64_t, kValues>& values() const { return values_; }

  /// After the call, before its key is asked for: the request it made has an id.
  [[gnu::always_inline]] void make(int code) {
    if constexpr (kPosts) {
      if (code != MPI_SUCCESS) return;
      look_at_comm();
      const auto handle = static_cast<std::uint64_t>(scalar<C, kRequest>(args_));
      made_ = objects_.slots(Kind::kRequest).create(handle);
      post(made_);
    }
  }

  [[gnu::always_inline]] bool has_key(const std::int64_t* key, std::uint64_t objects) const {
    std::int64_t differs = 0;
    each_of_key(objects, [&](std::int64_t element) { differs |= element ^ *key++; });
    return differs == 0;
  }

  auto key(std::uint64_t objects) const {
    boost::container::static_vector<std::int64_t, 2 + sizeof...(P) + 3> elements;
    each_of_key(objects, [&](std::int64_t element) { elements.push_back(element); });
    return elements;
  }

  [[gnu::always_inline]] void look_at_comm() {
    if constexpr (kComm >= 0) {
      if constexpr (params(kCall)[kComm].direction == Direction::kIn)
        comm_ = objects_.comm_shape(std::get<kComm>(args_));
    }
  }

  void before() {
    values_.fill(0);
    look_at_comm();
    each([&]<int I>() { this->template before_param<I>(); });
    // Not afterwards: another thread may have got the handle for a type of its own.
    if constexpr (C == CallId::kTypeFree) objects_.forget_type();
  }

  void after(int code) {
    values_[0] = code;
    if constexpr (kCompletes && kRequest >= 0) complete(code);
    each([&]<int I>() { this->template after_param<I>(code == MPI_SUCCESS); });
    if constexpr ((kReceives || kTransfers) && !kPosts) receive(code == MPI_SUCCESS);
    if constexpr (kProbes) probe(code == MPI_SUCCESS);
    if constexpr (has(kCall, Attribute::kStarts)) start(code == MPI_SUCCESS);
    if constexpr (creates_communicator(kCall)) new_communicator(code == MPI_SUCCESS);
  }

  /// `after`, where `make` gave `made`.
  void after_making(std::int64_t made, int code) {
    made_ = made;
    after(code);
  }

 private:
  template <class F>
  [[gnu::always_inline]] static void each(F f) {
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      (f.template operator()<I>(), ...);
    }
    (std::make_integer_sequence<int, static_cast<int>(sizeof...(P))>());
  }

  /// Calls f(element) for those of the key.
  template <class F>
  [[gnu::always_inline]] void each_of_key(std::uint64_t objects, F f) const {
    std::uint64_t buffers = 0;
    each([&]<int I>() {
      constexpr const ParamInfo& param = params(kCall)[I];
      if constexpr (stored_values(param) == 0) {
      } else if constexpr (param.kind == Kind::kBuffer) {
        buffers = buffers << 2 | static_cast<std::uint64_t>(buffer_class(std::get<I>(args_)));
      } else if constexpr (param.kind == Kind::kStatus) {
        if constexpr (kReceives && !kPosts) {
          const MPI_Status& status = *std::get<I>(args_);
          f(status_bytes(status));
          f(status.MPI_SOURCE);
          f(status.MPI_TAG);
        }
      } else if constexpr (param.direction == Direction::kIn) {
        f(scalar<C, I>(args_));
      } else {
        f(made_);
      }
    });
    f(static_cast<std::int64_t>(objects << 8 ^ buffers));
  }

  template <int I>
  std::int64_t& value() {
    constexpr std::size_t at = value_offset(kCall, I);
    return values_[at];
  }

  template <int I, class T>
  std::int64_t encode_element(const T& element) {
    constexpr const ParamInfo& param = params(kCall)[I];
    if constexpr (is_object(param.kind))
      return objects_.slots(param.kind).find(handle_bits(element));
    else
      return as_number(element);
  }

  template <class List>
  std::int64_t interned(const List& list) {
    return static_cast<std::int64_t>(objects_.intern({list.data(), list.size()}));
  }

  template <int I>
  std::int64_t encode_array() {
    boost::container::small_vector<std::int64_t, 16> elements;
    const auto* array = std::get<I>(args_);
    if constexpr (!std::is_void_v<std::remove_pointer_t<decltype(array)>>) {
      const std::int64_t length = readable_length<C, I>(args_, comm_);
      elements.reserve(static_cast<std::size_t>(length));
      // An array of arrays (the triplets of Group_range_incl) is one list.
      using Row = std::remove_cvref_t<decltype(*array)>;
      const auto* flat = reinterpret_cast<const std::remove_all_extents_t<Row>*>(array);
      for (std::int64_t i = 0; i < length; ++i) elements.push_back(encode_element<I>(flat[i]));
    }
    return interned(elements);
  }

  template <int I>
  void before_param() {
    constexpr const ParamInfo& param = params(kCall)[I];
    using T = std::tuple_element_t<I, Args>;
    if constexpr (param.kind == Kind::kStatus) {
      if constexpr (stored_values(param) != 0) no_status<I>();
    } else if constexpr (stored_values(param) == 0) {
    } else if constexpr (param.kind == Kind::kBuffer) {
      value<I>() = static_cast<std::int64_t>(buffer_class(std::get<I>(args_)));
    } else if constexpr (param.kind == Kind::kPointer || param.kind == Kind::kFunction) {
      value<I>() = (const void*)std::get<I>(args_) == nullptr ? 0 : 1;
    } else if constexpr (param.kind == Kind::kString) {
      std::vector<std::int64_t> text;
      if constexpr (std::is_convertible_v<T, const char*>) {  // lists of strings are not kept
        const char* c = significant<C, I>(args_, comm_) ? std::get<I>(args_) : nullptr;
        for (; c != nullptr && *c != 0; ++c) text.push_back(*c);
      }
      value<I>() = interned(text);
    } else if constexpr (I == kRequest && kCompletes && std::is_pointer_v<T>) {
      claim_requests();
    } else if constexpr (param.direction == Direction::kOut) {
    } else if constexpr (is_array(param) && std::is_pointer_v<T>) {
      if constexpr (param.direction == Direction::kIn || is_object(param.kind))
        value<I>() = encode_array<I>();
    } else if constexpr (is_object(param.kind)) {
      object_before<I>();
    } else if constexpr (param.direction == Direction::kIn) {
      if (!significant<C, I>(args_, comm_)) {
        value<I>() = kNotRecorded;
        return;
      }
      const std::int64_t number = scalar<C, I>(args_);
      if constexpr (is_end_point(kCall, param))
        value<I>() = encode_end_point(number, comm_);
      else
        value<I>() = number;
    }
  }

  template <int I>
  void object_before() {
    constexpr const ParamInfo& param = params(kCall)[I];
    if (!significant<C, I>(args_, comm_)) {
      value<I>() = kNotRecorded;
      return;
    }
    Slots& slots = objects_.slots(param.kind);
    const auto handle = static_cast<std::uint64_t>(scalar<C, I>(args_));
    if constexpr (kFrees && param.direction == Direction::kInOut) {
      if constexpr (param.kind != Kind::kRequest) objects_.change();
      freed_handle_ = handle;
      value<I>() = slots.claim(handle);
    } else {
      value<I>() = slots.find(handle);
    }
    if constexpr (param.kind == Kind::kRequest && has(kCall, Attribute::kCancels))
      objects_.request(value<I>()).cancelled = true;
  }

  template <int I>
  void after_param(bool ok) {
    constexpr const ParamInfo& param = params(kCall)[I];
    using T = std::tuple_element_t<I, Args>;
    if constexpr (stored_values(param) == 0 || param.kind == Kind::kStatus ||
                  param.kind == Kind::kBuffer || param.kind == Kind::kPointer ||
                  param.kind == Kind::kFunction || param.kind == Kind::kString) {
    } else if constexpr (is_object(param.kind) && !is_array(param)) {
      if constexpr (param.direction == Direction::kOut) {
        new_object<I>(ok);
      } else if constexpr (param.direction == Direction::kInOut && kFrees) {
        Slots& slots = objects_.slots(param.kind);
        if (!significant<C, I>(args_, comm_)) return;
        if (ok)
          slots.free_claimed(value<I>());
        else
          slots.unclaim(value<I>());
        if constexpr (param.kind == Kind::kComm)
          if (ok) objects_.forget_comm(handle_of<MPI_Comm>(freed_handle_));
      }
    } else if constexpr (param.direction != Direction::kIn) {
      if constexpr (is_array(param) && std::is_pointer_v<T>) {
        if constexpr (param.direction == Direction::kOut || !is_object(param.kind)) {
          if (ok)
            value<I>() = encode_array<I>();
          else
            value<I>() = static_cast<std::int64_t>(objects_.intern({}));
        }
      } else {
        const std::int64_t number = ok ? scalar<C, I>(args_) : 0;
        if constexpr (is_end_point(kCall, param))
          value<I>() = encode_end_point(number, comm_);
        else
          value<I>() = number;
      }
    }
  }

  template <int I>
  void new_object(bool ok) {
    constexpr const ParamInfo& param = params(kCall)[I];
    value<I>() = -1;
    if (!ok) return;
    Slots& slots = objects_.slots(param.kind);
    const auto handle = static_cast<std::uint64_t>(scalar<C, I>(args_));
    if constexpr (kKeyed) {
      value<I>() = made_;
      return;
    }
    if constexpr (param.kind != Kind::kRequest) objects_.change();
    if constexpr (param.kind == Kind::kRequest && kPosts) {
      value<I>() = slots.create(handle);
      post(value<I>());
    } else if constexpr (has(kCall, Attribute::kCreates)) {
      value<I>() = slots.create(handle);
    } else {
      value<I>() = slots.find(handle);
    }
  }

  // -- requests

  RequestFacts posted_receive() {
    RequestFacts facts;
    constexpr int source = last_of(kCall, Kind::kSource);
    constexpr int tag = last_of(kCall, Kind::kTag);
    constexpr int count = last_of(kCall, Kind::kCount);
    constexpr int type = last_of(kCall, Kind::kDatatype);
    facts.receives = true;
    facts.comm = comm_;
    if constexpr (source >= 0) facts.any_source = scalar<C, source>(args_) == MPI_ANY_SOURCE;
    if constexpr (tag >= 0 && source >= 0) facts.any_tag = scalar<C, tag>(args_) == MPI_ANY_TAG;
    if constexpr (count >= 0 && type >= 0)
      facts.bytes = scalar<C, count>(args_) * objects_.type_bytes(std::get<type>(args_));
    else if constexpr (kTransfers)
      facts.bytes = kNotRecorded;  // the end of a split collective does not repeat its count
    if constexpr (source >= 0)
      if (scalar<C, source>(args_) == MPI_PROC_NULL) facts.bytes = 0;
    return facts;
  }

  void post(std::int64_t id) {
    if (id < 0) return;
    RequestFacts& facts = objects_.request(id);
    // The status of an Isendrecv's request says nothing: MPICH leaves it as it was.
    if constexpr ((kReceives && !has(kCall, Attribute::kSend)) || kTransfers)
      facts = posted_receive();
    else
      facts = RequestFacts{};
    facts.persistent = has(kCall, Attribute::kPersistent);
    facts.active = !facts.persistent;
  }

  std::int64_t request_count() const {
    if constexpr (is_array(params(kCall)[kRequest]))
      return readable_length<C, kRequest>(args_, comm_);
    return 1;
  }

  void claim_requests() {
    const auto* requests = std::get<kRequest>(args_);
    claimed_.resize(static_cast<std::size_t>(request_count()), boost::container::default_init);
    Slots& slots = objects_.slots(Kind::kRequest);
    for (std::size_t i = 0; i < claimed_.size(); ++i)
      claimed_[i] = slots.claim(handle_bits(requests[i]));
    if constexpr (is_array(params(kCall)[kRequest])) {
      value<kRequest>() = interned(claimed_);
    } else {
      value<kRequest>() = claimed_[0];
    }
  }

  bool reports(int code) const {
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return false;
    if constexpr (kFlag >= 0) return *std::get<kFlag>(args_) != 0;
    return true;
  }

  /// Positions of the requests that the call reports, in the order of its statuses.
  boost::container::small_vector<std::int64_t, 16> reported(int code) const {
    boost::container::small_vector<std::int64_t, 16> positions;
    if (!reports(code)) return positions;
    if constexpr (kIndex >= 0) {
      if constexpr (is_array(params(kCall)[kIndex])) {
        const std::int64_t count = array_length<C, kIndex>(args_, comm_);
        for (std::int64_t i = 0; i < count; ++i) positions.push_back(std::get<kIndex>(args_)[i]);
      } else if (*std::get<kIndex>(args_) != MPI_UNDEFINED) {
        positions.push_back(*std::get<kIndex>(args_));
      }
    } else {
      for (std::size_t i = 0; i < claimed_.size(); ++i)
        positions.push_back(static_cast<std::int64_t>(i));
    }
    return positions;
  }

  /// Whether the status of a request that is complete tells nothing, as is seen at a glance; if so
  /// the request is done with.
  bool completed_silently(std::size_t position, const MPI_Status& status) {
    if (position >= claimed_.size() || claimed_[position] < 0) return true;
    RequestFacts& facts = objects_.request(claimed_[position]);
    if (facts.active && facts.receives &&
        (facts.any_source || facts.any_tag || facts.cancelled ||
         status_bytes(status) != facts.bytes))
      return false;
    facts.active = false;
    return true;
  }

  /// What the status of a request that is complete tells.
  StatusValues completed(std::size_t position, const MPI_Status& status) {
    if (completed_silently(position, status)) return {};
    RequestFacts& facts = objects_.request(claimed_[position]);
    facts.active = false;
    return encode_status(status, facts);
  }

  /// Of several statuses: three arrays, empty where none tells anything, which is usual.
  void tell_statuses(int code) {
    const MPI_Status* const statuses = std::get<kStatus>(args_);
    boost::container::small_vector<std::int64_t, 16> columns[3];
    const auto tell = [&](std::size_t k, std::size_t position) {
      const StatusValues values = completed(position, statuses[k]);
      if (columns[0].empty() && values.empty()) return;
      for (auto& column : columns) column.reserve(k + 1);
      columns[0].resize(k, packed_relative(StatusValues{}.source));
      columns[1].resize(k, kNotRecorded);
      columns[2].resize(k, kNotRecorded);
      columns[0].push_back(packed_relative(values.source));
      columns[1].push_back(values.tag);
      columns[2].push_back(values.bytes);
    };
    if constexpr (kIndex < 0) {
      if (reports(code)) {
        std::size_t k = 0;
        while (k < claimed_.size() && completed_silently(k, statuses[k])) ++k;
        for (; k < claimed_.size(); ++k) tell(k, k);
      }
    } else {
      const auto positions = reported(code);
      for (std::size_t k = 0; k < positions.size(); ++k)
        tell(k, static_cast<std::size_t>(positions[k]));
    }
    std::int64_t* const at = &value<kStatus>();
    if (columns[0].empty())
      at[0] = at[1] = at[2] = interned(columns[0]);
    else
      for (std::size_t i = 0; i < 3; ++i) at[i] = interned(columns[i]);
  }

  void complete(int code) {
    const auto* requests = std::get<kRequest>(args_);
    if constexpr (kStatus >= 0) {
      if constexpr (is_array(params(kCall)[kStatus])) {
        tell_statuses(code);
      } else {
        StatusValues values;
        for (const std::int64_t position : reported(code))
          values = completed(static_cast<std::size_t>(position), *std::get<kStatus>(args_));
        store_status(values);
      }
    }
    Slots& slots = objects_.slots(Kind::kRequest);
    for (std::size_t i = claimed_.size(); i-- > 0;) {
      const std::int64_t id = claimed_[i];
      if (id < 0) continue;
      const bool gone = requests[i] == MPI_REQUEST_NULL && !objects_.request(id).persistent;
      if (gone)
        slots.free_claimed(id);
      else
        slots.unclaim(id);
    }
  }

  void start(bool ok) {
    if (!ok) return;
    const auto* requests = std::get<kRequest>(args_);
    const std::int64_t count = request_count();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t id = objects_.slots(Kind::kRequest).find(handle_bits(requests[i]));
      if (id >= 0) objects_.request(id).active = true;
    }
  }

  // -- statuses

  template <int I>
  void own_status() {
    auto*& status = std::get<I>(args_);
    if constexpr (is_array(params(kCall)[I])) {
      if (status != MPI_STATUSES_IGNORE) return;
      statuses_.resize(static_cast<std::size_t>(request_count()), boost::container::default_init);
      if (!statuses_.empty()) status = statuses_.data();
    } else if (status == MPI_STATUS_IGNORE) {
      if constexpr (kTransfers) statuses_ = MPI_Status{};  // MPI-IO may leave it as it was
      status = &statuses_;
    }
  }

  template <int I>
  void no_status() {
    std::int64_t* at = &value<I>();
    const StatusValues none;
    const auto empty =
        is_array(params(kCall)[I]) ? static_cast<std::int64_t>(objects_.intern({})) : kNotRecorded;
    at[0] = is_array(params(kCall)[I]) ? empty : none.source;
    at[1] = at[2] = empty;
  }

  void store_status(const StatusValues& values) {
    std::int64_t* at = &value<kStatus>();
    at[0] = values.source;
    at[1] = values.tag;
    at[2] = values.bytes;
  }

  void receive(bool ok) {
    if constexpr (kStatus >= 0)
      store_status(ok ? encode_status(*std::get<kStatus>(args_), posted_receive())
                      : StatusValues{});
  }

  void probe(bool ok) {
    if constexpr (kFlag >= 0) ok = ok && *std::get<kFlag>(args_) != 0;
    StatusValues values;
    if (ok) {
      RequestFacts facts = posted_receive();
      facts.bytes = kNotRecorded;
      values = encode_status(*std::get<kStatus>(args_), facts);
    }
    store_status(values);
  }

  // -- communicators

  void new_communicator(bool ok) {
    std::int64_t& members = values_[kValues - 1];
    if (!ok) {
      members = static_cast<std::int64_t>(objects_.intern({}));
      return;
    }
    const MPI_Comm made = *std::get<output_of(kCall, Kind::kComm)>(args_);
    if constexpr (has(kCall, Attribute::kNonblocking)) {
      // Not usable before its request completes, and like its parent.
      members =
          static_cast<std::int64_t>(objects_.intern(communicator_members(std::get<kComm>(args_))));
      objects_.learn_comm(made, comm_);
    } else {
      members = static_cast<std::int64_t>(objects_.intern(communicator_members(made)));
      if (made != MPI_COMM_NULL) objects_.learn_comm(made, query_comm(made));
    }
  }

  Objects& objects_;
  Args args_;
  CommShape comm_;
  std::uint64_t freed_handle_ = 0;
  std::int64_t made_ = -1;  ///< the request's id
  std::array<std::int64_t, kValues> values_;
  struct Nothing {};
  static constexpr bool kManyStatuses = [] {
    if constexpr (kStatus >= 0)
      return is_array(params(kCall)[kStatus]);
    else
      return false;
  }();
  std::conditional_t<kManyStatuses, boost::container::small_vector<MPI_Status, 8>, MPI_Status>
      statuses_;
  std::conditional_t<kCompletes, boost::container::small_vector<std::int64_t, 16>, Nothing>
      claimed_;
};

}  // namespace chameleon::record
