// SPDX-License-Identifier: BSD-3-Clause
// From recorded values to arguments, by kind.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/foreign_lines.h"
#include "mpi/constants.h"
#include "mpi/handles.h"
#include "replay/interpreter.h"

namespace chameleon::replay {
namespace {

/// Longer arrays mean a damaged trace.
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;
/// A datatype that spans more, most of it holes, is sent as bytes.
constexpr std::int64_t kMostSpan = std::int64_t{1} << 30;
/// More bytes than any memory has, and few enough to add some up.
constexpr std::int64_t kMostSize = std::int64_t{1} << 60;
/// Microseconds: a launcher that sees the job end may lose what ranks have just said.
constexpr useconds_t kTimeToTell = 300'000;

/// Of the process, where the trace is refused.
constexpr int kRefusedStatus = 4;

/// No message is longer: a receive that has more room is given so much.
constexpr std::int64_t kMostRoom = std::int64_t{1} << 40;

/// Longer than any string MPI gives back.
constexpr std::uint64_t kMostText = 8192;

/// What the host can give without harm to anyone; the most there can be if that is not known.
std::uint64_t available_memory() {
  std::uint64_t kibibytes = UINT64_MAX >> 10;
  ForeignLines lines("/proc/meminfo");
  unsigned long long found = 0;
  for (std::string line; std::getline(lines, line);)
    if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &found) == 1) kibibytes = found;
  return kibibytes << 10;
}

/// Sums and products of what a trace says, which may be anything: the largest number for what is
/// larger still.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ((a < 0) == (b < 0) ? kMostSize : -kMostSize)
                                                : std::clamp(product, -kMostSize, kMostSize);
}

}  // namespace

/// So much more memory is about to be written, and the others of the host will want as much: ends
/// the job if there is not so much, before the system ends something else.
void Interpreter::refuse_memory(std::uint64_t more) {
  const std::uint64_t available = available_memory();
  const auto ranks = static_cast<std::uint64_t>(neighbours_);
  if (more <= available / ranks) return;
  constexpr double kGibibyte = 1U << 30;
  const double each = static_cast<double>(more) / kGibibyte;
  std::fprintf(stderr,
               "replay: refused: rank %u, event %llu, %s: a buffer of %.1f GiB on each of the %d "
               "ranks of this host takes %.1f GiB, and %.1f GiB are available\n",
               here_.rank(), static_cast<unsigned long long>(number_), plan_->info->name, each,
               neighbours_, each * neighbours_, static_cast<double>(available) / kGibibyte);
  ::usleep(kTimeToTell);
  PMPI_Abort(MPI_COMM_WORLD, kRefusedStatus);
}

void* Interpreter::take(Pool& pool, std::uint64_t bytes, Pool::Use use) {
  if (bytes > Pool::kLarge && use != Pool::Use::kRoom && bytes > pool.largest())
    refuse_memory(bytes - pool.largest());
  Pool::Block block = pool.take(bytes, use);
  if (block.data() == nullptr) {
    std::fprintf(stderr, "replay: rank %u, event %llu, %s: no memory for %llu bytes\n",
                 here_.rank(), static_cast<unsigned long long>(number_), plan_->info->name,
                 static_cast<unsigned long long>(bytes));
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
  owned_.push_back(std::move(block));
  return owned_.back().data();
}

bool Interpreter::at_root() const {
  if (plan_->root < 0) return true;
  if (plan_->params[static_cast<std::size_t>(plan_->root)].field < 0) return true;
  const Partner& root = event_->root;
  if (root.special != 0) return root.is(SpecialRank::kRoot);
  return !comm_.inter && root.rank == comm_.rank;
}

bool Interpreter::decode() {
  owned_.clear();
  if (plan_->params.size() > kMostParams) return false;
  comm_ = {};
  comm_.size = comm_.local = 1;
  comm_id_ = plan_->comm < 0 ? -1 : value(plan_->comm);
  if (comm_id_ >= 0) {
    const CommFacts* facts = objects_.comm(comm_id_);
    if (facts == nullptr) return false;
    comm_ = *facts;
  }
  significant_ = at_root();
  const auto& params = plan_->params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const ParamInfo& info = params[i].info;
    storage_[i] = 0;
    if (info.kind == Kind::kBuffer) continue;
    if (info.only_at_root && !significant_) {
      words_[i] = info.kind == Kind::kDatatype && !is_array(info) ? to_word(MPI_BYTE) : 0;
    } else if (info.kind == Kind::kStatus) {
      words_[i] = is_array(info) ? to_word(MPI_STATUSES_IGNORE) : to_word(MPI_STATUS_IGNORE);
    } else if (!(is_array(info) || info.kind == Kind::kString ? decode_array(i)
                                                              : decode_scalar(i))) {
      return false;
    }
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (params[i].info.kind == Kind::kBuffer && !decode_buffer(i)) return false;
    if (params[i].info.kind == Kind::kSource) resolve_wildcard(i);
  }
  return static_cast<CallId>(plan_->info->id) != CallId::kIntercommCreate || agree_on_leaders();
}

/// Who leads tells only a leader where the other one is. Any pair does as well, so both sides take
/// the first rank of each group, which all know, and meet in MPI_COMM_WORLD.
bool Interpreter::agree_on_leaders() {
  const std::span<const std::int64_t> members = here_.array(*event_, event_->plan->members);
  const auto end = std::find(members.begin(), members.end(), -1);
  if (end == members.end() || end + 1 == members.end()) return false;
  words_[1] = 0;
  words_[2] = to_word(MPI_COMM_WORLD);
  words_[3] = *(end + 1);
  return true;
}

bool Interpreter::decode_end_point(std::size_t at) {
  const ParamPlan& param = plan_->params[at];
  const Partner partner = event_->partner(static_cast<std::size_t>(param.field));
  if (partner.special == Partner::kUnknown) return false;
  if (partner.special == 0) {
    words_[at] = partner.rank;
    return true;
  }
  switch (static_cast<SpecialRank>(partner.special)) {
    case SpecialRank::kAnySource: words_[at] = MPI_ANY_SOURCE; return true;
    case SpecialRank::kRoot: words_[at] = MPI_ROOT; return true;
    case SpecialRank::kUndefined:
      words_[at] = 0;  // significant only elsewhere (a remote leader), or the call had failed
      return param.info.kind == Kind::kRank;
    default: words_[at] = MPI_PROC_NULL; return true;
  }
}

bool Interpreter::decode_scalar(std::size_t at) {
  const ParamPlan& param = plan_->params[at];
  const ParamInfo& info = param.info;
  if (info.kind == Kind::kFunction) {
    words_[at] = function_for(at);
    return true;
  }
  if (info.direction == Direction::kOut || info.kind == Kind::kPointer) {
    const bool none = info.direction == Direction::kIn && value(static_cast<int>(at)) == 0;
    words_[at] = none ? 0 : to_word(&storage_[at]);
    return true;
  }
  if (info.kind == Kind::kArgc || info.kind == Kind::kArgv) {
    words_[at] = 0;  // the program's, which are not recorded
    return true;
  }
  if (param.field < 0) return false;
  if (param.end_point) return decode_end_point(at);
  Word word = event_->value(param.field);
  if (word == kNotRecorded && info.direction == Direction::kIn) {
    // Not significant here: it describes the buffer of another rank, or one given in place.
    words_[at] = info.kind == Kind::kDatatype ? to_word(MPI_BYTE) : 0;
    return true;
  }
  if (Objects::keeps(info.kind)) {
    const std::optional<Word> handle = objects_.find(info.kind, word);
    if (!handle) return false;
    word = *handle;
  } else if (info.kind == Kind::kRequest) {
    const RequestState* state = request(word);
    word = to_word(state == nullptr ? MPI_REQUEST_NULL : state->handle);
  } else if (const NamedNumbers names = named_numbers(info); names.differ()) {
    word = translated(names, word, false);
  } else if (info.direction == Direction::kInOut) {
    word = 0;  // the position in a packed buffer: always room from its begin
  }
  if (info.direction == Direction::kInOut) {
    write_word(&storage_[at], word, plan_->entry->widths[at]);
    word = to_word(&storage_[at]);
  }
  words_[at] = word;
  return true;
}

std::int64_t Interpreter::expected_length(const ParamPlan& param) const {
  const Length& length = param.info.length;
  const auto other = [&](std::uint8_t i) {
    const ParamInfo& info = plan_->params[i].info;
    return info.direction == Direction::kIn ? words_[i] : value(i);
  };
  if (length.room != Length::kNoRoom) return other(length.room);
  switch (length.rule) {
    case Length::Rule::kParam: return other(length.param);
    case Length::Rule::kThreeTimesParam: return 3 * other(length.param);
    case Length::Rule::kCommSize: return comm_.size;
    case Length::Rule::kCommLocal: return comm_.local;
    case Length::Rule::kInDegree: return comm_.in_degree;
    case Length::Rule::kOutDegree: return comm_.out_degree;
    case Length::Rule::kConstant: return length.constant;
    case Length::Rule::kSumOfParam: {
      std::int64_t sum = 0;
      for (const std::int64_t element : array(length.param)) sum += element;
      return sum;
    }
    case Length::Rule::kLastOfParam: {
      const std::span<const std::int64_t> elements = array(length.param);
      return elements.empty() ? 0 : elements.back();
    }
    default: return 0;
  }
}

bool Interpreter::decode_array(std::size_t at) {
  const ParamPlan& param = plan_->params[at];
  const ParamInfo& info = param.info;
  const unsigned width = plan_->entry->widths[at];
  if (info.kind == Kind::kString && info.direction == Direction::kOut) {
    words_[at] = to_word(take(arrays_, kMostText));
    return true;
  }
  std::vector<std::int64_t> renamed;
  if (info.kind == Kind::kString && plan_->scratch && std::string_view(info.name) == "filename") {
    const std::span<const std::int64_t> name = array(static_cast<int>(at));
    const std::string path = files_.path_of(std::string(name.begin(), name.end()));
    renamed.assign(path.begin(), path.end());
  }
  const std::span<const std::int64_t> elements =
      renamed.empty() ? array(static_cast<int>(at)) : renamed;
  std::int64_t length = std::max(expected_length(param), std::int64_t(elements.size()));
  if (info.kind == Kind::kRequest) length = std::max(length, std::int64_t{1});
  // Indices of completed requests: as many as there are requests.
  if (info.direction == Direction::kOut && plan_->request >= 0) {
    length = std::max(length, std::int64_t(array(plan_->request).size()));
  }
  if (length > kMostElements) return false;
  if (elements.empty() && std::string_view(info.name).find("weights") != std::string_view::npos) {
    words_[at] = to_word(MPI_UNWEIGHTED);
    return true;
  }
  if (info.kind == Kind::kString) ++length;
  const auto bytes = static_cast<std::uint64_t>(length) * width;
  auto* to = static_cast<char*>(take(arrays_, bytes));
  std::memset(to, 0, bytes);
  words_[at] = to_word(to);
  if (info.direction == Direction::kOut) return true;
  const NamedNumbers names = named_numbers(info);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Word word = names.differ() ? translated(names, elements[i], false) : elements[i];
    if (Objects::keeps(info.kind)) {
      const std::optional<Word> handle = objects_.find(info.kind, word);
      if (!handle) return false;
      word = *handle;
    } else if (info.kind == Kind::kRequest) {
      const RequestState* state = request(word);
      word = to_word(state == nullptr ? MPI_REQUEST_NULL : state->handle);
    }
    write_word(to + i * width, word, width);
  }
  return true;
}

/// Whether anyone is at the other end.
bool Interpreter::moves(const BufferPlan& plan) const {
  if (plan.dest < 0 && plan.source < 0) return true;
  const auto is_somebody = [&](int partner) {
    return partner >= 0 && words_[static_cast<std::size_t>(partner)] != MPI_PROC_NULL;
  };
  return is_somebody(plan.dest) || is_somebody(plan.source);
}

/// How much of a buffer is written depends on the message.
bool Interpreter::arrives(const CallInfo& call) const {
  return has(call, Attribute::kRecv) && !has(call, Attribute::kCollective);
}

bool Interpreter::span_of(const BufferPlan& plan, std::int64_t& low, std::int64_t& high,
                          std::int64_t& bytes) {
  low = INT64_MAX;
  high = INT64_MIN;
  bytes = 0;
  const auto extend = [&](const TypeFacts& type, std::int64_t count, std::int64_t offset) {
    if (count <= 0) return;
    const std::int64_t last = times(count - 1, type.extent);
    low = std::min<std::int64_t>(low, offset + std::min<std::int64_t>(0, last) + type.true_lb);
    high = std::max<std::int64_t>(
        high, offset + std::max<std::int64_t>(0, last) + type.true_lb + type.true_extent);
    bytes = std::min(bytes + times(count, type.size), kMostSize);
  };
  if (plan.single) {
    const TypeFacts* type = objects_.type(value(plan.type));
    if (type != nullptr) extend(*type, 1, 0);
    return type != nullptr;
  }
  const ParamPlan& counts = plan_->params[static_cast<std::size_t>(plan.count)];
  const ParamPlan& types = plan_->params[static_cast<std::size_t>(plan.type)];
  if (!is_array(counts.info)) {
    const TypeFacts* type = objects_.type(value(plan.type));
    std::int64_t count = value(plan.count);
    if (type == nullptr || count < 0) return count == 0;
    if (plan.partitions >= 0) count = times(count, value(plan.partitions));
    const bool in_place =
        plan.input >= 0 && static_cast<BufferClass>(value(plan.input)) == BufferClass::kInPlace;
    const Repeat repeat = in_place ? plan.in_place : plan.repeat;
    if (repeat == Repeat::kCommSize) count = times(count, std::max(comm_.size, comm_.local));
    if (repeat == Repeat::kInDegree) count = times(count, comm_.in_degree);
    if (repeat == Repeat::kOutDegree) count = times(count, comm_.out_degree);
    extend(*type, count, 0);
    return true;
  }
  const std::span<const std::int64_t> elements = array(plan.count);
  const std::span<const std::int64_t> offsets = array(plan.displacements);
  const std::span<const std::int64_t> ids = array(plan.type);
  std::int64_t total = 0;  // where pieces follow each other
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (is_array(types.info) && i >= ids.size()) return false;
    const TypeFacts* type = objects_.type(is_array(types.info) ? ids[i] : value(plan.type));
    if (elements[i] == 0) continue;
    if (type == nullptr) return false;
    const std::int64_t unit = is_array(types.info) ? 1 : std::int64_t{type->extent};
    const std::int64_t offset = plan.displacements < 0 ? total
                                : i < offsets.size()   ? times(offsets[i], unit)
                                                       : 0;
    extend(*type, elements[i], offset);
    total = std::clamp(total + times(elements[i], type->extent), -kMostSize, kMostSize);
  }
  return true;
}

bool Interpreter::send_as_bytes(const BufferPlan& plan, std::int64_t bytes) {
  const ParamPlan& counts = plan_->params[static_cast<std::size_t>(plan.count)];
  if (has(*plan_->info, Attribute::kReduction) || is_array(counts.info)) return false;
  std::int64_t copies = 1;
  if (const std::int64_t count = value(plan.count); count > 0) {
    const TypeFacts* type = objects_.type(value(plan.type));
    if (type == nullptr || type->size == 0) return false;
    copies = bytes / (count * type->size);
  }
  word(plan.count) = bytes / std::max<std::int64_t>(copies, 1);
  word(plan.type) = to_word(MPI_BYTE);
  return true;
}

/// A receive whose message is longer than declared parts of the trace say takes it as bytes.
bool Interpreter::make_room(const ParamPlan& buffer, std::int64_t& high) {
  const auto room = rooms_.find(number_);
  if (room == rooms_.end() || buffer.info.direction != Direction::kOut || buffer.buffer.count < 0 ||
      buffer.buffer.type < 0)
    return false;
  word(buffer.buffer.count) = high = room->second;
  word(buffer.buffer.type) = to_word(MPI_BYTE);
  return true;
}

bool Interpreter::decode_buffer(std::size_t at) {
  const ParamPlan& param = plan_->params[at];
  if (param.info.only_at_root && !significant_) {
    words_[at] = 0;
    return true;
  }
  const auto kind = static_cast<BufferClass>(value(static_cast<int>(at)));
  if (kind == BufferClass::kInPlace) {
    words_[at] = to_word(MPI_IN_PLACE);
    return true;
  }
  if (static_cast<CallId>(plan_->info->id) == CallId::kWinDetach) {
    void* memory = windows_.oldest(value(plan_->win));
    words_[at] = to_word(memory);
    return memory != nullptr;
  }
  // What others put into a window is written, too.
  const BufferPlan& plan = param.buffer;
  const bool lent = plan.bytes >= 0 && plan_->target < 0;  // to MPI: a window, attached memory
  const bool read =
      param.info.direction == Direction::kIn && !lent && (plan_->win < 0 || plan_->target >= 0);
  Pool& pool = read ? payload_ : received_;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t bytes = 0;
  if (!rooms_.empty() && make_room(param, high)) {
    bytes = high;
  } else if (plan.type >= 0 && (plan.count >= 0 || plan.single)) {
    if (!span_of(plan, low, high, bytes)) return false;
  } else if (plan.bytes >= 0) {
    high = value(plan.bytes);
    // A window of nothing has a place, too.
    if (plan_->win >= 0 && kind != BufferClass::kNull) high = std::max(high, std::int64_t{1});
  } else if (plan_->file >= 0) {
    void* buffer = files_.split_buffer(value(plan_->file));  // the end of a split collective
    words_[at] = to_word(buffer == nullptr ? storage_.data() : buffer);
    return true;
  } else {
    return false;
  }
  const bool sized = plan.type >= 0 && bytes == 0;
  if (high <= low || sized || !moves(plan)) {
    // Nothing is read or written, but a null pointer may stand for MPI_BOTTOM.
    words_[at] = kind == BufferClass::kOrdinary ? to_word(&storage_[at]) : 0;
    return true;
  }
  if (high - low > kMostSpan && high - low > 2 * bytes && plan.count >= 0) {
    if (!send_as_bytes(plan, bytes)) return false;
    low = 0;
    high = bytes;
  }
  Pool::Use use = Pool::Use::kShared;
  if (arrives(*plan_->info) && param.info.direction == Direction::kOut) {
    high = std::min(high, low + kMostRoom);
    use = Pool::Use::kRoom;
  }
  if (lent) use = Pool::Use::kOwn;
  words_[at] =
      to_word(static_cast<char*>(take(pool, static_cast<std::uint64_t>(high - low), use))) - low;
  return true;
}

void Interpreter::resolve_wildcard(std::size_t source) {
  std::size_t tag = source + 1;
  while (tag < plan_->params.size() && plan_->params[tag].info.kind != Kind::kTag) ++tag;
  if (tag == plan_->params.size()) return;
  if (words_[source] != MPI_ANY_SOURCE && words_[tag] != MPI_ANY_TAG) return;
  std::optional<Match> match;
  if (plan_->status >= 0) {
    if (plan_->flag >= 0 && value(plan_->flag) == 0) return;
    match = here_.match(*event_);
  } else if (plan_->request >= 0 && has(*plan_->info, Attribute::kNonblocking)) {
    match = matches_.take(event_->stream, event_->number, value(plan_->request));
  }
  if (!match) return;
  if (words_[source] == MPI_ANY_SOURCE && match->source.special == 0)
    words_[source] = match->source.rank;
  if (words_[tag] == MPI_ANY_TAG && match->tag >= 0) words_[tag] = match->tag;
}

}  // namespace chameleon::replay
