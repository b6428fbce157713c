// SPDX-License-Identifier: BSD-3-Clause
#include "python_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <sstream>

extern char** environ;

namespace chameleon::tools {
namespace {

constexpr std::chrono::seconds kMostTime{20};
constexpr std::size_t kMostOutput = 1U << 16;

/// Where the module is, without loading it.
constexpr const char* kQuestion =
    "import importlib.util as u; s = u.find_spec('mpi4py.MPI'); print(s.origin if s else '')";

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool names_python(const std::string& program) {
  const std::string name = base_name(program);
  return name.rfind("python", 0) == 0 &&
         name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

/// The interpreter that starts a program, or an empty string if that is not Python.
std::string interpreter_of(const Diagnosis& diagnosis) {
  if (diagnosis.kind == "elf") return names_python(diagnosis.program) ? diagnosis.program : "";
  if (diagnosis.kind != "script") return {};
  std::istringstream words(diagnosis.interpreter.substr(2));  // after #!
  for (std::string word; words >> word;) {
    if (names_python(word)) return find_program(word);
    if (base_name(word) != "env" && word.rfind('-', 0) != 0) break;
  }
  return {};
}

/// What a command writes to its output within a while; empty if it fails.
std::string output_of(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  const auto end = std::chrono::steady_clock::now() + kMostTime;
  while (failed == 0 && text.size() < kMostOutput) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd waited{ends[0], POLLIN, 0};
    char buffer[4096];
    if (left.count() <= 0 || poll(&waited, 1, static_cast<int>(left.count())) <= 0) break;
    const ssize_t got = read(ends[0], buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (failed != 0) return {};
  if (std::chrono::steady_clock::now() >= end) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : std::string();
}

}  // namespace

void diagnose_python(const std::string& tracer, const std::vector<std::string>& settings,
                     Diagnosis& diagnosis) {
  if (!diagnosis.preload || !diagnosis.mpi_library.empty()) return;
  const std::string interpreter = interpreter_of(diagnosis);
  if (interpreter.empty()) return;
  std::vector<std::string> words = {"env"};
  words.insert(words.end(), settings.begin(), settings.end());
  words.insert(words.end(), {interpreter, "-c", kQuestion});
  std::string module = output_of(words);
  module.erase(module.find_last_not_of(" \n") + 1);
  module.erase(0, module.find_last_of('\n') + 1);  // what else was printed comes before
  if (!module.empty()) diagnose_module(module, "Python, whose mpi4py", tracer, diagnosis);
}

}  // namespace chameleon::tools
