// SPDX-License-Identifier: BSD-3-Clause
// fuzz_settings SECONDS [SEED]: damages environments and parses them. A refused one must name a
// variable that is in it; of an accepted one every setting must be in its documented range, globs
// must be usable, and parsing it again must give the same. Meant to run with the address and
// undefined behaviour sanitizers; an environment that crashes or hangs is kept as
// `crash-environment`, a line a variable, with the seed printed.
// `fuzz_settings --once FILE` parses one again.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "process/settings.h"
#include "tests/fuzz/guard.h"

extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=256:hard_rss_limit_mb=1024:detect_leaks=0";
}

namespace chameleon {
using namespace cluster;
using namespace flush;
using namespace process;
using namespace signature;
using namespace world;
namespace {

/// One of each variable, and what is at the edge of what it takes.
const char* const kCorpus[] = {"CHAMELEON_ENABLE=1",
                               "CHAMELEON_ENABLE=0",
                               "CHAMELEON_OUTPUT=a/b.cham",
                               "CHAMELEON_OUTPUT=",
                               "CHAMELEON_TIMING=none",
                               "CHAMELEON_TIMING=full",
                               "CHAMELEON_PAIRS=on",
                               "CHAMELEON_EVENTS=all",
                               "CHAMELEON_EVENTS=communication",
                               "CHAMELEON_EXCLUDE=MPI_Test*,Iprobe",
                               "CHAMELEON_EXCLUDE=[A-Z]*,?est,\\*",
                               "CHAMELEON_EXCLUDE=[[:alpha:]]*[!_]",
                               "CHAMELEON_BUFFER=8M",
                               "CHAMELEON_BUFFER=65536",
                               "CHAMELEON_BUFFER=17179869183G",
                               "CHAMELEON_CLOCK=monotonic",
                               "CHAMELEON_MEMORY=512M",
                               "CHAMELEON_MEMORY=18446744073709551615",
                               "CHAMELEON_SPILL=off",
                               "CHAMELEON_SPILL=/tmp",
                               "CHAMELEON_RAW=/tmp",
                               "CHAMELEON_CLUSTERING=off",
                               "CHAMELEON_CLUSTERING=k-medoid",
                               "CHAMELEON_K=9",
                               "CHAMELEON_K=65536",
                               "CHAMELEON_SEED=7",
                               "CHAMELEON_DISTANCE=euclidean",
                               "CHAMELEON_FIDELITY=checked",
                               "CHAMELEON_SIGNATURE=xor",
                               "CHAMELEON_CALL_FREQUENCY=25",
                               "CHAMELEON_CALL_FREQUENCY=auto",
                               "CHAMELEON_FLUSH_EVERY=1K",
                               "CHAMELEON_BUDGET=2.5%",
                               "CHAMELEON_BUDGET=1e-300",
                               "CHAMELEON_BUDGET=nan",
                               "CHAMELEON_MARKER_TIMEOUT=0.5",
                               "CHAMELEON_MARKER_TIMEOUT=1e9",
                               "CHAMELEON_MARKER_TIMEOUT=inf",
                               "CHAMELEON_STALL=0",
                               "CHAMELEON_STALL=1e9",
                               "CHAMELEON_STALL_ABORT=1",
                               "CHAMELEON_VERBOSE=2",
                               "CHAMELEON_LIBRARY=/x.so",
                               "CHAMELEON_FILTER=auto",
                               "CHAMELEON_FILTER=on",
                               "CHAMELEON_WAIT=sleep",
                               "CHAMELEON_VOTE=blocking",
                               "CHAMELEON_RULES=Send.dest = me ^ 1",
                               "CHAMELEON_RULES=let r = isqrt(np)\nSendrecv.dest where tag == 3 = "
                               "me % r * r + me / r # all",
                               "CHAMELEON_RULES=let a = np * np; let b = a * a << 7; "
                               "Comm_split.color = me < b ? min(me, -b) / (np - 1) : ~a >> me",
                               "CHAMELEON_RULES=Send.count=((((1||tag)&&count)|1)<=2)!=!0",
                               "CHAMELEON_NOTHING=1",
                               "CHAMELEON_=",
                               "CHAMELEON_",
                               "CHAMELEO",
                               "HOME=/root",
                               "=",
                               ""};

using fuzz::broken;
using fuzz::watch;

using Environment = std::vector<std::string>;
Environment g_environment;

void write_environment(std::FILE* file) {
  for (const std::string& entry : g_environment) std::fprintf(file, "%s\n", entry.c_str());
}

Result<Settings> parse(const Environment& environment) {
  std::vector<const char*> entries;
  for (const std::string& entry : environment) entries.push_back(entry.c_str());
  entries.push_back(nullptr);
  return parse_settings(entries.data());
}

bool names_a_variable(const std::string& message) {
  for (const std::string& entry : g_environment)
    if (const std::string name = entry.substr(0, entry.find('='));
        name.rfind("CHAMELEON_", 0) == 0 && message.rfind(name, 0) == 0)
      return true;
  return false;
}

/// What docs/reference/environment.md says.
void check(const Settings& settings) {
  if (settings.buffer < 65536 || settings.memory < 65536) broken("a size below 64K was accepted");
  if (settings.cluster.k > 65536) broken("a K that is out of range");
  if (!(settings.cluster.count_tolerance >= 0) || settings.cluster.count_tolerance >= 1)
    broken("a tolerance that is no share");
  if (settings.cluster.format == 0) broken("a format without signatures");
  if (settings.flush_every < 1) broken("a number of markers of 0");
  if (!(settings.marker_timeout > 0) || settings.marker_timeout > 1e9) broken("a time-out");
  if (!(settings.stall >= 0) || settings.stall > 1e9) broken("a time without progress");
  if (!(settings.budget >= 0) || settings.budget >= 1) broken("a budget that is no share");
  if (settings.verbose < 0 || settings.verbose > 2) broken("a verbosity");
  for (const std::string& pattern : settings.exclude)
    if (pattern.empty()) broken("an empty glob");
  for (const char* call : {"Send", "Testsome", "Neighbor_alltoallw_init_c", ""})
    (void)record::names_call(settings.exclude, call);
}

/// Rules of a text, not of a file: those that are accepted can be evaluated for anyone, and give
/// the same each time.
void check_rules_of(Settings settings) {
  if (settings.rules_given.find('=') == std::string::npos) return;
  const Status read = load_rules(settings);
  if (!read && read.error().message.rfind("CHAMELEON_RULES: ", 0) != 0)
    broken("an error that does not name the rules");
  if (settings.follows_rules != !settings.rules.empty()) broken("rules that nobody follows");
  constexpr std::int64_t kEdges[] = {INT64_MIN, -1, 0, 1, 63, 64, 16, INT64_MAX};
  for (std::size_t rule = 0; rule < settings.rules.list().size(); ++rule)
    for (const std::int64_t me : kEdges)
      for (const std::int64_t np : kEdges) {
        const RuleCaller caller{me, np, me, std::nullopt};
        if (settings.rules.value(rule, caller) != settings.rules.value(rule, caller))
          broken("a rule that gives now this and now that");
        if (settings.rules.value(rule, caller) && !settings.rules.applies(rule, caller))
          broken("a rule that gives something where it is of nothing");
      }
}

bool same(const Settings& a, const Settings& b) {
  return a.enable == b.enable && a.output == b.output && a.timing == b.timing &&
         a.time_classes == b.time_classes && a.all_events == b.all_events &&
         a.exclude == b.exclude && a.buffer == b.buffer && a.raw == b.raw &&
         a.counter == b.counter && a.memory == b.memory && a.spills == b.spills &&
         a.spill == b.spill && a.verbose == b.verbose && a.clustering == b.clustering &&
         a.cluster == b.cluster && a.fidelity == b.fidelity && a.signature == b.signature &&
         a.call_frequency == b.call_frequency && a.flush_every == b.flush_every &&
         a.marker_timeout == b.marker_timeout && a.stall == b.stall &&
         a.stall_ends == b.stall_ends && a.budget == b.budget && a.rules_given == b.rules_given &&
         a.filter == b.filter && a.warnings == b.warnings;
}

/// Whether the environment is accepted.
bool run() {
  watch(fuzz::kHang);
  const auto settings = parse(g_environment);
  if (settings) {
    check(*settings);
    check_rules_of(*settings);
    const auto again = parse(g_environment);
    if (!again || !same(*settings, *again)) broken("parsing again gives something else");
  } else if (!names_a_variable(settings.error().message)) {
    broken("an error that names no variable");
  }
  watch(0);
  return static_cast<bool>(settings);
}

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  /// Entries have no zero bytes in them, whatever is done.
  void apply(std::string& entry) {
    if (entry.empty()) return;
    const std::size_t at = below(entry.size());
    const auto byte = static_cast<char>(1 + below(255));
    switch (below(6)) {
      case 0: entry[at] = byte; break;
      case 1: entry.insert(at, 1, byte); break;
      case 2: entry.erase(at, 1 + below(4)); break;
      case 3: {  // what values are made of
        constexpr char kParts[] = "0123456789.,%eEKMGkmg-+*?[]!\\=_xn()<>&|^~:;#\n/ ";
        entry.insert(at, 1 + below(24), kParts[below(sizeof kParts - 1)]);
        break;
      }
      case 4: entry += entry.substr(at); break;
      default: {  // the value of another
        const std::string other = kCorpus[below(std::size(kCorpus))];
        entry.resize(std::min(entry.find('='), entry.size()));
        const std::size_t equals = other.find('=');
        if (equals != std::string::npos) entry += other.substr(equals);
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

int once(const char* path) {
  std::ifstream in(path);
  for (std::string entry; std::getline(in, entry);) g_environment.push_back(entry);
  std::printf("accepted: %d\n", static_cast<int>(run()));
  return 0;
}

int run_all(double seconds, std::uint64_t seed) {
  std::printf("seed %llu, %zu entries\n", static_cast<unsigned long long>(seed),
              std::size(kCorpus));
  std::fflush(stdout);
  Damage damage(seed);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t inputs = 0, accepted = 0;
  for (; std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds;
       ++inputs) {
    g_environment.clear();
    for (std::size_t count = 1 + damage.below(4); count > 0; --count) {
      std::string entry = kCorpus[damage.below(std::size(kCorpus))];
      for (std::size_t times = damage.below(5); times > 0; --times) damage.apply(entry);
      g_environment.push_back(std::move(entry));
    }
    accepted += run() ? 1 : 0;
  }
  std::printf("%llu environments, %llu accepted\n", static_cast<unsigned long long>(inputs),
              static_cast<unsigned long long>(accepted));
  // A fuzzer whose every input is refused, or none, tests nothing.
  return accepted > 0 && accepted < inputs ? 0 : 1;
}

}  // namespace
}  // namespace chameleon

int main(int argc, char** argv) {
  chameleon::fuzz::start({"fuzz_settings", "crash-environment", chameleon::write_environment});
  if (argc == 3 && std::strcmp(argv[1], "--once") == 0) return chameleon::once(argv[2]);
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: fuzz_settings SECONDS [SEED]\n");
    return 2;
  }
  const std::uint64_t seed =
      argc == 3 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  return chameleon::run_all(std::atof(argv[1]), seed);
}
