// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <fstream>
#include <sstream>

#include "process/settings.h"
#include "unit/catch.h"

namespace chameleon {
using namespace cluster;
using namespace flush;
using namespace process;
using namespace signature;
using namespace world;
namespace {

Result<Settings> parse(std::vector<const char*> variables) {
  variables.push_back(nullptr);
  return parse_settings(variables.data());
}

TEST_CASE("an environment without Chameleon's variables gives the defaults") {
  const auto settings = parse({"HOME=/root", "CHAMELEO=1", "XCHAMELEON_TIMING=foo"});
  REQUIRE(settings);
  CHECK(settings->enable);
  CHECK(settings->output.empty());
  CHECK(settings->timing == Timing::kHistogram);
  CHECK(settings->time_classes == 16);
  CHECK(settings->keeps_times);
  CHECK_FALSE(settings->all_events);
  CHECK(settings->buffer == 8ULL << 20);
  CHECK(settings->raw.empty());
  CHECK(settings->warnings.empty());
  CHECK(settings->exclude.empty());
}

TEST_CASE("effort windows are off unless asked for") {
  const auto usual = parse({});
  REQUIRE(usual);
  CHECK_FALSE(usual->effort.on());
  CHECK(usual->effort.window == Efforts::Settings());
  const auto settings =
      parse({"CHAMELEON_EFFORT=compute", "CHAMELEON_EFFORT_STEPS=48", "CHAMELEON_EFFORT_K=7",
             "CHAMELEON_EFFORT_ERROR=2%", "CHAMELEON_EFFORT_CONFIDENCE=0.99", "CHAMELEON_SEED=5"});
  REQUIRE(settings);
  CHECK(settings->effort.of == EffortOf::kCompute);
  CHECK(settings->effort.seed == 5);
  CHECK(settings->effort.window == Efforts::Settings{48, 20'000, 990'000});
  CHECK(settings->effort.k == EffortK{EffortK::By::kFixed, 7});
  CHECK(parse({"CHAMELEON_EFFORT=communication"})->effort.of == EffortOf::kCommunication);
  const auto calls = parse({"CHAMELEON_EFFORT=MPI_Wait*,Send"});
  REQUIRE(calls);
  CHECK(calls->effort.of == EffortOf::kCalls);
  CHECK(record::names_call(calls->effort_calls, "MPI_Waitall"));
  CHECK_FALSE(record::names_call(calls->effort_calls, "MPI_Sendrecv"));
  CHECK(calls->effort_given == "MPI_Wait*,Send");
  const auto sites = parse({"CHAMELEON_EFFORT=compute@solve*,flow::step"});
  REQUIRE(sites);
  CHECK(sites->effort.of == EffortOf::kSites);
  CHECK(sites->effort_sites.functions == std::vector<std::string>{"solve*", "flow::step"});
  CHECK(sites->effort_sites.compute);
  CHECK_FALSE(sites->effort_sites.communication);
  const auto both = parse({"CHAMELEON_EFFORT=@main"});
  CHECK((both && both->effort_sites.compute && both->effort_sites.communication));
  const auto some = parse({"CHAMELEON_EFFORT=MPI_Wait*@main"});
  REQUIRE(some);
  CHECK(some->effort_calls == std::vector<std::string>{"Wait*"});
  CHECK_FALSE(some->effort_sites.compute);
  for (const char* wrong :
       {"CHAMELEON_EFFORT=on", "CHAMELEON_EFFORT=@", "CHAMELEON_EFFORT=compute@a,",
        "CHAMELEON_EFFORT=Sand@main", "CHAMELEON_EFFORT=Send,", "CHAMELEON_EFFORT=Send,Sand*",
        "CHAMELEON_EFFORT_STEPS=100", "CHAMELEON_EFFORT_STEPS=2048", "CHAMELEON_EFFORT_K=0",
        "CHAMELEON_EFFORT_ERROR=0", "CHAMELEON_EFFORT_CONFIDENCE=100%"})
    CHECK_FALSE(parse({wrong}));
}

TEST_CASE("rules are a text, or a file of one, and what is wrong with them is told") {
  auto settings = parse({"CHAMELEON_RULES=Send.dest = me ^ 1", "CHAMELEON_FILTER=on"});
  REQUIRE(settings);
  CHECK(settings->filter == Filter::kOn);
  CHECK(settings->rules.empty());
  REQUIRE(load_rules(*settings));
  CHECK(settings->rules.list().size() == 1);
  CHECK(settings->follows_rules);

  const std::string path = "rules_of_test_settings.txt";
  std::ofstream(path) << "# butterflies\nRecv.source = me ^ 1\n";
  const std::string variable = "CHAMELEON_RULES=" + path;
  settings = parse({variable.c_str()});
  REQUIRE(load_rules(*settings));
  CHECK(settings->rules.list().front().call == "Recv");
  std::ofstream(path) << std::string(Rules::kMostText + 1, '#');
  CHECK(load_rules(*settings).error().message == "CHAMELEON_RULES: more than 64 KiB of text");
  std::remove(path.c_str());
  CHECK(load_rules(*settings).error().message ==
        "CHAMELEON_RULES: " + path + ": cannot be read: No such file or directory");

  settings = parse({"CHAMELEON_RULES=Send.to = me"});
  const Status refused = load_rules(*settings);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, testing::contains("line 1: Send has no parameter"));
  CHECK(settings->rules.empty());
  CHECK_FALSE(settings->follows_rules);
  CHECK(load_rules(*parse({"HOME=/"})));
  CHECK_FALSE(parse({"CHAMELEON_RULES="}));
  CHECK_FALSE(parse({"CHAMELEON_FILTER=maybe"}));
  CHECK_FALSE(parse({"CHAMELEON_WAIT=spin"}));
  CHECK_FALSE(parse({"CHAMELEON_ENERGY=joules"}));
  CHECK_FALSE(parse({"CHAMELEON_VOTE=never"}));
  CHECK_FALSE(parse({"CHAMELEON_STALL=-1"}));
  CHECK_FALSE(parse({"CHAMELEON_STALL_ABORT=yes"}));
  CHECK(parse({"CHAMELEON_STALL=0"})->stall == 0);
}

TEST_CASE("every variable is taken") {
  const auto settings =
      parse({"CHAMELEON_ENABLE=0", "CHAMELEON_OUTPUT=a=b.cham", "CHAMELEON_TIMING=full",
             "CHAMELEON_EVENTS=all", "CHAMELEON_EXCLUDE=MPI_Test*,Iprobe", "CHAMELEON_BUFFER=64K",
             "CHAMELEON_RAW=/tmp", "CHAMELEON_VERBOSE=2", "CHAMELEON_TIME_CLASSES=3",
             "CHAMELEON_WAIT=sleep", "CHAMELEON_ENERGY=on", "CHAMELEON_STALL=0.5",
             "CHAMELEON_STALL_ABORT=1"});
  REQUIRE(settings);
  CHECK_FALSE(settings->enable);
  CHECK(settings->output == "a=b.cham");
  CHECK(settings->timing == Timing::kFull);
  CHECK(settings->time_classes == 3);
  CHECK(settings->waiting == world::Waiting::kSleep);
  CHECK(settings->energy);
  CHECK(settings->stall == 0.5);
  CHECK(settings->stall_ends);
  CHECK(settings->stall_given);
  CHECK(settings->all_events);
  CHECK(settings->buffer == 65536);
  CHECK(settings->raw == "/tmp");
  CHECK(settings->verbose == 2);
  CHECK(settings->warnings.empty());
}

TEST_CASE("what markers and clustering take") {
  const auto none = parse({});
  REQUIRE(none);
  CHECK(none->clustering);
  CHECK(none->cluster.selection == Selection::kFarthest);
  CHECK(none->cluster.k == 9);
  CHECK(none->fidelity == Fidelity::kExact);
  CHECK(none->call_frequency == online::kAutoFrequency);
  CHECK(none->flush_every == 100);
  CHECK(none->least_flush_seconds == 1);
  CHECK(none->markers == markers::Markers::kProgram);
  CHECK(none->marker_timeout == 60.0);
  CHECK(none->stall == 60.0);
  CHECK_FALSE(none->stall_ends);
  CHECK_FALSE(none->stall_given);
  CHECK(none->budget == online::kUsualBudget);
  CHECK_FALSE(none->leaves_out);
  CHECK(parse({"CHAMELEON_EFFORT=compute"})->call_frequency == 1);
  CHECK(parse({"CHAMELEON_EFFORT=compute", "CHAMELEON_CALL_FREQUENCY=3"})->call_frequency == 3);
  CHECK(none->series_limit == 8192);
  CHECK(parse({"CHAMELEON_SERIES=64K"})->series_limit == 65536);
  CHECK(parse({"CHAMELEON_BUDGET=off"})->budget == 0);
  CHECK(parse({"CHAMELEON_BUDGET=1%"})->leaves_out);
  CHECK(parse({"CHAMELEON_BUDGET=2.5%"})->budget == 0.025);
  CHECK(parse({"CHAMELEON_BUDGET=0.5"})->budget == 0.5);
  for (const char* bad : {"", "0", "1", "100%", "-1%", "1%%", "%", "1x"})
    CHECK_FALSE(parse({(std::string("CHAMELEON_BUDGET=") + bad).c_str()}));
  CHECK(none->few == 0.25);
  CHECK(parse({"CHAMELEON_FEW=0"})->few == 0);
  CHECK(parse({"CHAMELEON_FEW=10%"})->few == 0.1);
  for (const char* bad : {"", "1", "100%", "-1%", "few"})
    CHECK_FALSE(parse({(std::string("CHAMELEON_FEW=") + bad).c_str()}));
  const auto settings =
      parse({"CHAMELEON_CLUSTERING=k-medoid", "CHAMELEON_K=4", "CHAMELEON_SEED=7",
             "CHAMELEON_DISTANCE=euclidean", "CHAMELEON_FIDELITY=checked",
             "CHAMELEON_SIGNATURE=xor", "CHAMELEON_CALL_FREQUENCY=25", "CHAMELEON_MARKERS=auto",
             "CHAMELEON_FLUSH_EVERY=1K", "CHAMELEON_MARKER_TIMEOUT=0.5"});
  REQUIRE(settings);
  CHECK(settings->clustering);
  CHECK(settings->cluster.selection == Selection::kMedoid);
  CHECK(settings->cluster.k == 4);
  CHECK(settings->cluster.seed == 7);
  CHECK(settings->cluster.distance == Distance::kEuclidean);
  CHECK(settings->fidelity == Fidelity::kChecked);
  CHECK(settings->signature == CallPathForm::kXor);
  CHECK(settings->call_frequency == 25);
  CHECK(settings->flush_every == 1024);
  CHECK(settings->least_flush_seconds == 0);
  CHECK(settings->markers == markers::Markers::kAuto);
  CHECK(settings->marker_timeout == 0.5);
  CHECK(settings->warnings.empty());
  const auto off = parse({"CHAMELEON_CLUSTERING=off"});
  REQUIRE(off);
  CHECK_FALSE(off->clustering);
}

TEST_CASE("a paper's clustering is a point on axes that other variables move") {
  CHECK(parse({"CHAMELEON_ALGORITHM=chameleon"})->cluster == ClusterOptions());
  const auto dynamic = parse({"CHAMELEON_ALGORITHM=dynamic"});
  CHECK(dynamic->cluster.k == kUnbounded);
  CHECK(dynamic->format == kDefaultFormat);
  const auto acurdion = parse({"CHAMELEON_ALGORITHM=acurdion"});
  CHECK(acurdion->cluster.adaptive);
  CHECK(acurdion->cluster.k == 9);
  CHECK(acurdion->format == kAllSignatures);
  const auto parameters = parse({"CHAMELEON_ALGORITHM=callpath+parameter"});
  CHECK(parameters->cluster.count_tolerance == 0.05);
  CHECK(format_text(parameters->cluster) == "callpath,src,dest,count,tag,key,color,data");
  CHECK(parse({"CHAMELEON_ALGORITHM=reference"})->format == (kCallPathBit | kSequenceBit));
  // Whatever comes first in the environment.
  const auto moved =
      parse({"CHAMELEON_K=4", "CHAMELEON_STEPS=single", "CHAMELEON_EQUALITY=packed",
             "CHAMELEON_COUNT_TOLERANCE=2.5%", "CHAMELEON_FORMAT=adaptive:-comp,-comm",
             "CHAMELEON_ALGORITHM=dynamic"});
  REQUIRE(moved);
  CHECK(moved->cluster.k == 4);
  CHECK(moved->cluster.steps == Steps::kSingle);
  CHECK(moved->cluster.equality == Equality::kPacked);
  CHECK(moved->cluster.count_tolerance == 0.025);
  CHECK(moved->cluster.adaptive);
  CHECK(format_text(moved->cluster) == "adaptive:callpath,src,dest,count,tag,key,color,loop,data");
  for (const char* one : {"exact", "xor", "packed"}) {
    const std::string variable = std::string("CHAMELEON_EQUALITY=") + one;
    const auto equal = parse({variable.c_str()});
    REQUIRE(equal);
    CHECK(std::string(equality_name(equal->cluster.equality)) == one);
    CHECK(equal->reads_by_xor == (equal->cluster.equality == Equality::kXor));
  }
  CHECK(parse({"CHAMELEON_K=all"})->cluster.k == kUnbounded);
  CHECK(parse({"CHAMELEON_FORMAT=adaptive"})->cluster.format == kAllSignatures);
  CHECK(parse({"CHAMELEON_FORMAT=callpath", "CHAMELEON_EQUALITY=packed"})->format ==
        (kDefaultFormat | format_bit(Parameter::kCount) | format_bit(Parameter::kDataOperation)));
}

TEST_CASE("leads that are allowed are used where ranks lose something, but for what is named") {
  const auto further = [](std::initializer_list<const char*> environment) {
    return parse(environment)->cluster.further;
  };
  CHECK(further({}) == 0);
  CHECK(further({"CHAMELEON_FIDELITY=checked"}) == chameleon::cluster::kFurtherSignatures);
  CHECK(further({"CHAMELEON_FIDELITY=lead", "CHAMELEON_K=27"}) ==
        chameleon::cluster::kFurtherSignatures);
  CHECK(further({"CHAMELEON_FIDELITY=lead", "CHAMELEON_ALGORITHM=chameleon"}) == 0);
  CHECK(further({"CHAMELEON_FIDELITY=lead", "CHAMELEON_FORMAT=callpath,src,dest"}) == 0);
  CHECK(further({"CHAMELEON_FORMAT=callpath,src+src,count"}) == format_bit(Parameter::kCount));
  const auto lead = parse({"CHAMELEON_FIDELITY=lead"});
  CHECK(lead->format == (kDefaultFormat | chameleon::cluster::kFurtherSignatures));
  CHECK(format_text(lead->cluster) == "callpath,src,dest+count,tag,key,color,data,sequence");
  CHECK(std::string(algorithm_name(lead->cluster)) == "chameleon");
}

TEST_CASE("how many frames have to agree is written and read as text") {
  CHECK(parse({})->frames.all());
  CHECK(parse({"CHAMELEON_FRAMES=all"})->frames.all());
  CHECK(parse({"CHAMELEON_FRAMES=2+0"})->frames == chameleon::callpath::FramesMatched{2, 0});
  for (const char* const text : {"all", "1+1", "3+0", "128+128"}) {
    chameleon::callpath::FramesMatched matched;
    REQUIRE(frames_of(text, matched));
    CHECK(frames_text(matched) == text);
  }
}

TEST_CASE("the options of a clustering are written and read as text") {
  for (const Preset& one : presets()) {
    ClusterOptions options = one.options;
    options.seed = 17;
    CHECK(std::string(algorithm_name(options)) == one.name);
    options.distance = Distance::kEuclidean;
    std::istringstream words(options_text(options) + " 5");
    ClusterOptions read;
    REQUIRE(options_of(words, read));
    CHECK(read == options);
    int next = 0;
    CHECK(((words >> next) && next == 5));
    options.steps = Steps::kSingle;
    CHECK(std::string(algorithm_name(options)) == "custom");
  }
  for (const char* bad : {"", "k-farthest", "k-farthest 0 1 manhattan src double exact 0",
                          "k-farthest 9 1 manhattan nothing double exact 0"}) {
    std::istringstream words(bad);
    ClusterOptions read;
    CHECK_FALSE(options_of(words, read));
  }
}

TEST_CASE("calls are excluded by name or glob, with or without MPI_") {
  const auto settings = parse({"CHAMELEON_EXCLUDE=MPI_Test*,Iprobe"});
  REQUIRE(settings);
  for (const char* call : {"MPI_Test", "MPI_Testall", "MPI_Iprobe"})
    CHECK(record::names_call(settings->exclude, call));
  for (const char* call : {"MPI_Probe", "MPI_Iprobes", "MPI_MPI_Iprobe"})
    CHECK_FALSE(record::names_call(settings->exclude, call));
}

TEST_CASE("a malformed variable is named, with what it takes") {
  const auto variable =
      GENERATE(as<std::string>{}, "CHAMELEON_ENABLE=yes",
               "CHAMELEON_ENABLE=", "CHAMELEON_OUTPUT=", "CHAMELEON_TIMING=Full",
               "CHAMELEON_EVENTS=", "CHAMELEON_EXCLUDE=", "CHAMELEON_MASK=", "CHAMELEON_MASK=a,,b",
               "CHAMELEON_EXCLUDE=Send,,Recv", "CHAMELEON_BUFFER=8X", "CHAMELEON_BUFFER=65535",
               "CHAMELEON_BUFFER=-1", "CHAMELEON_RAW=", "CHAMELEON_CLUSTERING=on", "CHAMELEON_K=0",
               "CHAMELEON_K=65537", "CHAMELEON_K=", "CHAMELEON_ALGORITHM=none",
               "CHAMELEON_FORMAT=", "CHAMELEON_FORMAT=src,",
               "CHAMELEON_FORMAT=adaptive:", "CHAMELEON_FORMAT=adaptive,src",
               "CHAMELEON_FORMAT=-src,dest", "CHAMELEON_FORMAT=SRC", "CHAMELEON_FORMAT=src+",
               "CHAMELEON_FORMAT=+src", "CHAMELEON_FORMAT=src+count+tag", "CHAMELEON_STEPS=triple",
               "CHAMELEON_FRAMES=", "CHAMELEON_FRAMES=1", "CHAMELEON_FRAMES=0+1",
               "CHAMELEON_FRAMES=1+", "CHAMELEON_FRAMES=1+129", "CHAMELEON_FRAMES=1+1+1",
               "CHAMELEON_FRAMES=-1+1", "CHAMELEON_EQUALITY=", "CHAMELEON_COUNT_TOLERANCE=100%",
               "CHAMELEON_COUNT_TOLERANCE=-1%", "CHAMELEON_COUNT_TOLERANCE=", "CHAMELEON_SEED=x",
               "CHAMELEON_DISTANCE=", "CHAMELEON_FIDELITY=exactly", "CHAMELEON_SIGNATURE=and",
               "CHAMELEON_CALL_FREQUENCY=0", "CHAMELEON_CALL_FREQUENCY=Auto",
               "CHAMELEON_CALL_FREQUENCY=auto2", "CHAMELEON_FLUSH_EVERY=0",
               "CHAMELEON_MARKER_TIMEOUT=0", "CHAMELEON_MARKER_TIMEOUT=1s", "CHAMELEON_VERBOSE=3",
               "CHAMELEON_VERBOSE=-1", "CHAMELEON_VERBOSE=");
  const auto settings = parse({variable.c_str()});
  REQUIRE_FALSE(settings);
  CHECK(settings.error().kind == ErrorKind::kUsage);
  const std::string name = variable.substr(0, variable.find('='));
  CHECK_THAT(settings.error().message, Catch::Matchers::StartsWith(name));
  CHECK_THAT(settings.error().message, testing::contains("it takes"));
  CHECK(settings.error().message.find('\n') == std::string::npos);
}

TEST_CASE("an unknown variable is a warning, one without a value is nothing") {
  const auto settings = parse({"CHAMELEON_TIMINGS=full", "CHAMELEON_TIMING"});
  REQUIRE(settings);
  REQUIRE(settings->warnings.size() == 1);
  CHECK(settings->warnings[0] ==
        "CHAMELEON_TIMINGS is not a variable of the tracer: CHAMELEON_TIMING is");
  CHECK(parse({"CHAMELEON_WEATHER=1"})->warnings[0] ==
        "CHAMELEON_WEATHER is not a variable of the tracer");
  CHECK(settings->timing == Timing::kHistogram);
}

TEST_CASE("sizes") {
  const auto [text, bytes] =
      GENERATE(table<std::string, std::uint64_t>({{"0", 0},
                                                  {"1", 1},
                                                  {"2k", 2048},
                                                  {"2K", 2048},
                                                  {"8M", 8388608},
                                                  {"1G", 1073741824},
                                                  {"18446744073709551615", UINT64_MAX}}));
  CAPTURE(text);
  const auto size = parse_size(text);
  REQUIRE(size);
  CHECK(*size == bytes);
}

TEST_CASE("what is no size") {
  const auto text = GENERATE(as<std::string>{}, "", "K", "-1", " 1", "1 ", "1KB", "0x10", "1.5M",
                             "18446744073709551616", "18446744073709551615K", "17179869184G");
  CAPTURE(text);
  CHECK_FALSE(parse_size(text));
}

}  // namespace
}  // namespace chameleon
