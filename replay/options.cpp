// SPDX-License-Identifier: BSD-3-Clause
#include "replay/options.h"

#include <cstdlib>
#include <string_view>

namespace chameleon::replay {
namespace {

bool set_option(Options& options, std::string_view name, const std::string& value) {
  if (name == "--scratch") {
    options.scratch = value;
    return !value.empty();
  }
  if (name == "--compute") {
    if (value == "sleep") {
      options.compute = Compute::kSleep;
    } else if (value == "spin") {
      options.compute = Compute::kSpin;
    } else if (value == "none") {
      options.compute = Compute::kNone;
    } else {
      return false;
    }
    return true;
  }
  double& number = name == "--patience" ? options.patience : options.time_scale;
  char* end = nullptr;
  number = std::strtod(value.c_str(), &end);
  return !value.empty() && *end == '\0' && number >= 0 && number <= 1e6;
}

Error usage(const std::string& what) { return {ErrorKind::kUsage, what, 0}; }

}  // namespace

Result<Options> parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--best-effort") {
      options.best_effort = true;
    } else if (argument == "--no-check") {
      options.no_check = true;
    } else if (argument == "--help" || argument == "-h") {
      options.help = true;
    } else if (argument.starts_with("--")) {
      const std::size_t equals = argument.find('=');
      const std::string_view name = argument.substr(0, equals);
      if (name != "--compute" && name != "--time-scale" && name != "--patience" &&
          name != "--scratch") {
        return usage("unknown option " + std::string(name));
      }
      if (equals == std::string_view::npos && ++i == argc) {
        return usage(std::string(name) + " needs a value");
      }
      const std::string value(equals == std::string_view::npos ? argv[i]
                                                               : argument.substr(equals + 1));
      if (!set_option(options, name, value)) {
        return usage("'" + value + "' is no value of " + std::string(name));
      }
    } else if (options.trace.empty()) {
      options.trace = argument;
    } else {
      return usage("more than one trace");
    }
  }
  if (options.trace.empty() && !options.help) return usage("no trace given");
  return options;
}

}  // namespace chameleon::replay
