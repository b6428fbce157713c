// SPDX-License-Identifier: BSD-3-Clause
#include "record/streams.h"

#include <algorithm>
#include <bit>

#include "compress/merge.h"
#include "mpi/platform.h"
#include "record/aside.h"
#include "record/raw_file.h"
#include "record/thread_number.h"

namespace chameleon::record {
namespace {

/// The calling thread's stream, and none before its first recorded call.
CHAMELEON_PER_THREAD Stream* t_stream CHAMELEON_FAST_TLS = nullptr;

template <std::size_t... I>
std::array<Slots, kKinds> make_slots(std::uint32_t thread, std::index_sequence<I...>) {
  return {Slots(static_cast<Kind>(I), thread)...};
}

/// A signature of several streams does not depend on which thread has which number: that is
/// chance. It differs from that of any one stream.
void add(SignatureVector& rank, const SignatureVector& stream) {
  rank.call_path += mix(stream.call_path + 1);
  for (std::size_t i = 0; i < kParameters; ++i) {
    SignatureVector::Summary& sum = rank.parameters[i];
    const SignatureVector::Summary& more = stream.parameters[i];
    if (static_cast<Parameter>(i) == Parameter::kDataOperation) {
      sum.exact |= more.exact;
      sum.mean = std::popcount(sum.exact);
    } else {
      sum.mean += more.mean;
      sum.exact += mix(more.exact);
    }
  }
}

}  // namespace

Stream::Stream(const RecordOptions& options, std::uint64_t buffer, std::uint32_t number)
    : thread(number),
      trace(options, buffer),
      slots(make_slots(number, std::make_index_sequence<kKinds>())) {}

Stream::~Stream() {
  if (raw != nullptr) std::fclose(raw);
}

Streams::Streams(const RecordOptions& options, int rank, int size, const RankRules* rules)
    : options_(options),
      rank_(static_cast<std::uint32_t>(rank)),
      size_(static_cast<std::uint32_t>(size)),
      rules_(rules),
      first_(options, options.buffer, 0) {
  prepare(first_);
}

void Streams::prepare(Stream& stream) const {
  if (options_.reads_by_xor) stream.trace.signer().read_by_xor(rank_);
  if (rules_ != nullptr) stream.trace.signer().follow(*rules_);
  if (arrays_) stream.trace.signer().read(arrays_);
  if (options_.pairs && keeps_times_ && options_.timing != Timing::kNone)
    stream.trace.book().pairs().start(rank_, size_, stream.thread);
  if (store_ != nullptr) stream.trace.folded().store_in(*store_, stream.thread);
  open_raw(stream);
}

void Streams::store_in(PieceStore& store) {
  if (options_.signature == CallPathForm::kXor || first_.trace.signer().signs(Parameter::kLoop))
    return;
  store_ = &store;
  for_each([&](Stream& stream) { stream.trace.folded().store_in(store, stream.thread); });
}

void Streams::open_raw(Stream& stream) const {
  if (!options_.raw.empty())
    stream.raw = open_raw_file(options_.raw, static_cast<int>(rank_), static_cast<int>(size_),
                               stream.thread);
}

Stream* Streams::own() { return t_stream; }

void Streams::enter() {
  if (t_stream == nullptr) [[unlikely]]
    aside([this] {
      t_stream = &of(take_thread_number([] { t_stream = nullptr; }));
      t_stream->unusual = true;
    });
  present_ = t_stream;
}

std::uint32_t Streams::most() const {
  return std::clamp<std::uint32_t>(RankList::kMaxRanks / size_, 1, kMostThreads);
}

Stream& Streams::of(std::uint32_t number) {
  if (number >= most()) {
    crowded_ = true;
    number = most() - 1;
  }
  while (others_.size() < number) {
    const std::uint64_t buffer = std::max<std::uint64_t>(options_.buffer / 32, 64U << 10);
    others_.push_back(std::make_unique<Stream>(options_, std::min(buffer, options_.buffer),
                                               static_cast<std::uint32_t>(count())));
    Stream& made = *others_.back();
    for (std::size_t kind = 0; kind < kKinds; ++kind) made.slots[kind].join(first_.slots[kind]);
    if (!keeps_times_) made.trace.drop_times();
    // Until its first call a thread is taken to have computed: since the thread before it in the
    // stream ended, or since tracing began. So times along any stream are those of the rank.
    made.last_exit = begun_;
    prepare(made);
  }
  return number == 0 ? first_ : *others_[number - 1];
}

Stream* Streams::maker(std::int64_t id) {
  const std::uint32_t thread = object_thread(id);
  if (id < 0 || thread >= count()) return nullptr;
  return &of(thread);
}

void Streams::drop_times() {
  keeps_times_ = false;
  for_each([](Stream& stream) { stream.trace.drop_times(); });
}

SignatureVector Streams::close_interval(double ns_per_tick, bool clusters) {
  SignatureVector signature = first_.trace.close_interval(ns_per_tick, clusters);
  for (const auto& other : others_) {
    const SignatureVector more = other->trace.close_interval(ns_per_tick, clusters);
    if (other->trace.interval().events != 0) add(signature, more);
  }
  if (store_ != nullptr) store_->close();
  return signature;
}

bool Streams::end_interval(double ns_per_tick, bool keeps) {
  bool closed = false;
  for_each([&](Stream& stream) {
    closed = (keeps ? stream.trace.join(ns_per_tick) : stream.trace.drop(ns_per_tick)) || closed;
  });
  if (store_ != nullptr) keeps ? store_->join() : store_->drop();
  return closed;
}

std::vector<StreamAccounts> Streams::accounts() {
  std::vector<StreamAccounts> all;
  for_each([&](const Stream& stream) {
    Accounts accounts = stream.trace.book().accounts();
    if (!accounts.empty())
      all.push_back(
          {rank_ + size_ * stream.thread, std::move(accounts), stream.trace.book().waits()});
  });
  return all;
}

SignatureVector Streams::history() {
  SignatureVector signature = first_.trace.history();
  for (const auto& other : others_) add(signature, other->trace.history());
  return signature;
}

bool Streams::any(bool (RankTrace::*says)() const) {
  bool found = false;
  for_each([&](Stream& stream) { found = found || (stream.trace.*says)(); });
  return found;
}

Trace Streams::take(const Trace& schema) {
  Trace whole;
  for_each([&](Stream& stream) {
    Trace one;
    one.calls = schema.calls;
    one.world_size = size_;
    one.threads = static_cast<std::uint32_t>(count());
    const std::uint32_t number = one.stream_of(rank_, stream.thread);
    one.ranks = RankList::single(number);
    if (count() > 1) one.facts[number].events = stream.trace.events();
    one.nodes = stream.trace.take();
    if (stream.thread == 0)
      whole = std::move(one);
    else
      merge(whole, std::move(one));
  });
  return whole;
}

}  // namespace chameleon::record
