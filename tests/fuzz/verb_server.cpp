// SPDX-License-Identifier: BSD-3-Clause
// The `chameleon` command as a server for fuzz_verbs.py: starting the command costs more than what
// a verb does with a small trace. Linked with the command's objects, whose main() each child calls
// (--wrap=main). A line on standard input is SECONDS, BYTES of memory, a FILE for errors, and the
// command's arguments, separated by tabs. Each is run in a child with no input, and its output
// thrown away. The answer is a line: the status that wait() gives.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

extern "C" int __real_main(int argc, char** argv);  // NOLINT

namespace {

void put(int descriptor, const char* path, int flags) {
  const int opened = ::open(path, flags | O_CLOEXEC, 0600);
  if (opened < 0 || ::dup2(opened, descriptor) < 0) _exit(125);
}

void bound(__rlimit_resource what, const std::string& most) {
  const rlimit limit{std::strtoull(most.c_str(), nullptr, 10),
                     std::strtoull(most.c_str(), nullptr, 10)};
  if (::setrlimit(what, &limit) != 0) _exit(125);
}

/// Ends by a signal after so many seconds of the processor, and after ten times as long if it
/// waits.
[[noreturn]] void run(std::vector<std::string>& words) {
  put(STDIN_FILENO, "/dev/null", O_RDONLY);
  put(STDOUT_FILENO, "/dev/null", O_WRONLY);
  put(STDERR_FILENO, words[2].c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  bound(RLIMIT_CPU, words[0]);
  ::alarm(10 * static_cast<unsigned>(std::strtoul(words[0].c_str(), nullptr, 10)));
#ifndef __SANITIZE_ADDRESS__  // its shadow counts
  bound(RLIMIT_DATA, words[1]);
#endif
  bound(RLIMIT_CORE, "0");
  std::string name = "chameleon";
  std::vector<char*> arguments = {name.data()};
  for (std::size_t i = 3; i < words.size(); ++i) arguments.push_back(words[i].data());
  arguments.push_back(nullptr);
  std::exit(__real_main(static_cast<int>(arguments.size() - 1), arguments.data()));
}

}  // namespace

extern "C" int __wrap_main() {  // NOLINT
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> words(1);
    for (const char letter : line)
      if (letter == '\t')
        words.emplace_back();
      else
        words.back() += letter;
    if (words.size() < 4) return 2;
    const pid_t child = ::fork();
    if (child == 0) run(words);
    int status = -1;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return 3;
    std::printf("%d\n", status);
    std::fflush(stdout);
  }
  return 0;
}
