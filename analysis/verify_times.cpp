// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/verify_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <unordered_map>

#include "analysis/raw_reader.h"
#include "analysis/stream_times.h"
#include "base/foreign_lines.h"
#include "signature/call_parameters.h"
#include "signature/null_test.h"

namespace chameleon::analysis {
namespace {

constexpr double kMatters = 0.01;
/// Of a mean in a file, by its code; and of times of a few ns, by rounding them to whole ones.
constexpr double kCodeError = 0.02, kRounding = 2;

struct RawSum {
  double events = 0, compute_ns = 0, call_ns = 0;
  std::string call;
};
using RawSums = std::unordered_map<Place, RawSum, Place::Hash>;

/// The number of each call by its name.
std::map<std::string, std::uint16_t> numbers_of(const Trace& trace) {
  std::map<std::string, std::uint16_t> numbers;
  for (const auto& [id, call] : trace.calls) numbers.emplace(call.name, id);
  return numbers;
}

/// By call path the relaxed one of the nodes, which times are kept by.
using RelaxedPaths = std::unordered_map<std::uint64_t, std::uint64_t>;

void add_relaxed(const Trace& trace, const std::vector<Node>& nodes, RelaxedPaths& relaxed) {
  for (const Node& node : nodes) {
    add_relaxed(trace, node.body, relaxed);
    const int field = node.is_loop() ? -1 : trace.path_field(node.call);
    if (field < 0 || static_cast<std::size_t>(field) >= node.params.size()) continue;
    node.params[static_cast<std::size_t>(field)].for_each_group(
        {}, [&](const RankList&, EndPointForm, const ValueSequence& values) {
          for (ValueSequence::Cursor cursor(values); !cursor.done(); cursor.skip(1))
            relaxed.emplace(static_cast<std::uint64_t>(cursor.segment().start), node.path);
        });
  }
}

struct NullTexts {
  std::string request, undefined;
};

/// Whether a line is of a Test or a probe that was carried out, and found nothing, or had nothing
/// to test.
/// `null`: the handle of a null request and MPI_UNDEFINED, as they are written.
bool is_unsuccessful_poll(const std::string& call, const std::string& line, const NullTexts& null) {
  const auto says = [&](const std::string& value) {
    const std::size_t at = line.find(' ' + value);
    if (at == std::string::npos) return false;
    const std::size_t end = at + 1 + value.size();
    return end == line.size() || line[end] == ' ';
  };
  const CallInfo* const info = find_call(call);
  if (info == nullptr || signature::success_flag(*info) < 0 || !says("return=0")) return false;
  if (says("flag=0") || says("outcount=0")) return true;
  const int param = signature::null_test_param(*info);
  if (param < 0) return false;
  const ParamInfo& tells = params(*info)[static_cast<std::size_t>(param)];
  if (is_array(tells)) {
    const std::string name = std::string(" ") + tells.name + "=[";
    const std::size_t at = line.find(name);
    if (at == std::string::npos) return false;
    std::istringstream requests(
        line.substr(at + name.size(), line.find(']', at) - at - name.size()));
    for (std::string one; std::getline(requests, one, ',');)
      if (one != null.request) return false;
    return true;
  }
  return says(tells.name + ("=" + (tells.kind == Kind::kRequest ? null.request : null.undefined)));
}

/// Empty if the records have no times.
Result<RawSums> read_sums(const std::string& path,
                          const std::map<std::string, std::uint16_t>& numbers,
                          const RelaxedPaths& relaxed, bool without_polls) {
  RawSums sums;
  ForeignLines in(path);
  std::string line, call;
  std::uint64_t before = 0;
  NullTexts null;
  bool poll = false;                           // the call is no event
  double polled_compute = 0, polled_call = 0;  // since the last one
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string first, second;
    words >> first;
    if (first != "#") {
      if (first.empty() || first[0] != '@')
        call = first;
      else
        words >> call;
      poll = without_polls && is_unsuccessful_poll(call, line, null);
      continue;
    }
    words >> second;
    if (second == "predefined" || second == "constant") {
      std::string kind, name;
      if (second == "predefined") words >> kind;
      words >> name;
      if (name == "MPI_REQUEST_NULL") words >> null.request;
      if (name == "MPI_UNDEFINED") words >> null.undefined;
    }
    if (second != "spent") continue;
    double compute = 0, spent = 0;
    std::uint64_t path_signature = 0;
    words >> compute >> spent >> std::hex >> path_signature;
    compute += std::exchange(polled_compute, 0);
    spent += std::exchange(polled_call, 0);
    if (poll && words) {
      polled_compute = compute;
      polled_call = spent;
      continue;
    }
    const auto number = numbers.find(call);
    if (!words) return Error{ErrorKind::kCorrupt, path + ": malformed '# spent' line", 0};
    if (const auto stands = relaxed.find(path_signature); stands != relaxed.end())
      path_signature = stands->second;
    // A call that the trace does not know is found missing by its events.
    const std::uint64_t symbol =
        number == numbers.end() ? 0 : Node::event_symbol(number->second, path_signature);
    RawSum& sum = sums[{symbol, before}];
    sum.call = call;
    sum.events += 1;
    sum.compute_ns += compute;
    sum.call_ns += spent;
    before = symbol;
  }
  return sums;
}

class TimesComparison {
 public:
  explicit TimesComparison(const Trace& trace) : trace_(trace) {
    for (const Declaration& one : trace.declarations) {
      named_.merge(one.ranks);
      failed_ = failed_ || is_failure(one);
    }
  }

  void add(std::uint32_t rank, std::uint32_t thread, const RawSums& sums) {
    const std::uint32_t stream = trace_.stream_of(rank, thread);
    const StreamTimes times(trace_, stream);
    const bool declared = failed_ || named_.contains(rank);
    double run = 0;
    for (const auto& [place, sum] : sums) run += sum.compute_ns + sum.call_ns;
    for (const auto& [place, sum] : sums) {
      const Durations* const like = times.at(place);
      const auto compare = [&](Kind& kind, double raw, const Histogram* mean) {
        const double said = mean == nullptr ? 0 : mean->mean() * sum.events;
        kind.raw += raw;
        kind.said += said;
        if (raw < kMatters * run) return;
        const double stated = times.spread();
        const double error = std::abs(said - raw) / raw;
        kind.errors.push_back(error);
        const double allowed = stated + kCodeError * (1 + stated) + kRounding * sum.events / raw;
        if (error <= allowed) {
          ++kind.within;
        } else if (declared) {
          ++kind.declared;
        } else if (error - allowed > furthest_) {
          furthest_ = error - allowed;
          worst_ = {{rank, thread, sum.call, kind.name, raw, said, stated}};
        }
      };
      compare(compute_, sum.compute_ns, like == nullptr ? nullptr : &like->compute);
      compare(communication_, sum.call_ns, like == nullptr ? nullptr : &like->communication);
    }
  }

  TimesCheck result() {
    TimesCheck check;
    check.done = !compute_.errors.empty() || !communication_.errors.empty();
    check.compute = compute_.column();
    check.communication = communication_.column();
    check.worst = std::move(worst_);
    return check;
  }

 private:
  struct Kind {
    const char* name;
    double raw = 0, said = 0;
    std::uint64_t within = 0, declared = 0;
    std::vector<double> errors = {};

    TimesColumn column() {
      TimesColumn column;
      column.total = errors.size();
      column.within = within;
      column.declared = declared;
      column.all = raw > 0 ? std::abs(said - raw) / raw : 0;
      if (errors.empty()) return column;
      std::sort(errors.begin(), errors.end());
      const auto quantile = [&](double share) {
        const auto at = static_cast<std::size_t>(share * static_cast<double>(errors.size()));
        return errors[std::min(at, errors.size() - 1)];
      };
      column.median = quantile(0.5);
      column.percentile_95 = quantile(0.95);
      column.largest = errors.back();
      return column;
    }
  };

  /// A rank that fails may take with it what others send through it, and on rank 0 the times that
  /// they had since the flush before.
  static bool is_failure(const Declaration& one) {
    return one.what == kNoMemoryDeclaration || one.what == kFailedDeclaration ||
           one.what == kLostFlushDeclaration || one.what == kLostWordsDeclaration;
  }

  const Trace& trace_;
  RankList named_;       ///< by declarations
  bool failed_ = false;  ///< some rank did
  Kind compute_{"compute"}, communication_{"communication"};
  double furthest_ = 0;
  std::vector<TimesCheck::Worst> worst_;
};

}  // namespace

Result<TimesCheck> verify_times(const Trace& trace, const std::string& raw_directory) {
  if (!trace.complete || trace.times.empty()) return TimesCheck();
  const auto numbers = numbers_of(trace);
  RelaxedPaths relaxed;
  add_relaxed(trace, trace.nodes, relaxed);
  TimesComparison comparison(trace);
  for (std::uint32_t rank = 0; rank < trace.world_size; ++rank)
    for (std::uint32_t thread = 0; thread < trace.threads; ++thread) {
      if (!RawReader::exists(raw_directory, rank, thread)) continue;
      const Result<RawSums> sums = read_sums(RawReader::file_of(raw_directory, rank, thread),
                                             numbers, relaxed, leaves_out_polls(trace));
      if (!sums) return sums.error();
      if (sums->empty()) continue;
      comparison.add(rank, thread, *sums);
    }
  return comparison.result();
}

}  // namespace chameleon::analysis
