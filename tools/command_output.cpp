// SPDX-License-Identifier: BSD-3-Clause
#include "command_output.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

extern char** environ;

namespace chameleon::tools {
namespace {

constexpr std::chrono::seconds kMostTime{20};
constexpr std::size_t kMostOutput = 1U << 16;

}  // namespace

std::string command_output(const std::vector<std::string>& command,
                           const std::vector<std::string>& settings) {
  std::vector<std::string> words = {"env"};
  words.insert(words.end(), settings.begin(), settings.end());
  words.insert(words.end(), command.begin(), command.end());
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

}  // namespace chameleon::tools
