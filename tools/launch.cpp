// SPDX-License-Identifier: BSD-3-Clause
#include "launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "common.h"
#include "elf_file.h"
#include "runtimes.h"

namespace chameleon::tools {
namespace {

namespace fs = std::filesystem;

volatile sig_atomic_t launcher_process = 0;

extern "C" void forward_signal(int signal, siginfo_t* info, void*) {
  // What the terminal sends, the launcher's process group got already.
  const int saved = errno;
  if (launcher_process > 0 && info->si_code <= 0) kill(launcher_process, signal);
  errno = saved;
}

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

fs::path own_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : self.parent_path();
}

std::string first_existing(const std::vector<fs::path>& candidates) {
  std::error_code error;
  for (const fs::path& candidate : candidates)
    if (fs::exists(candidate, error)) return fs::weakly_canonical(candidate, error).string();
  return {};
}

}  // namespace

std::string find_tracer() {
  if (const char* named = std::getenv("CHAMELEON_LIBRARY"); named != nullptr && *named != '\0')
    return fs::absolute(named).string();
  constexpr const char* kName = "libchameleon.so";
  const fs::path prefix = own_folder().parent_path();
  std::vector<fs::path> candidates;
#ifdef CHAMELEON_INSTALL_LIBDIR
  candidates.push_back(prefix / CHAMELEON_INSTALL_LIBDIR / kName);
#endif
  for (const char* folder : {"lib", "lib64"}) candidates.push_back(prefix / folder / kName);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", error))
    if (entry.is_directory(error)) candidates.push_back(entry.path() / kName);
  // In the build tree.
  for (const char* folder : {".", "libchameleon", "libchameleon/runtime", "runtime"})
    candidates.push_back(prefix / folder / kName);
  candidates.push_back(own_folder() / kName);
  return first_existing(candidates);
}

std::string find_replayer(const std::string& mpi) {
  const fs::path own = own_folder();
  std::string found;
  // That of the first MPI of the build has no suffix.
  for (const std::string& name : {"chameleon-replay-" + mpi, std::string("chameleon-replay")}) {
    found =
        first_existing({own / name, own / "../libexec/chameleon" / name, own / "../replay" / name});
    if (!found.empty() && (mpi.empty() || family_of(mpi_of_file(found)) == mpi)) return found;
  }
  return {};
}

std::string default_launcher(std::string_view mpi_library) {
  const std::string family = family_of(std::string(mpi_library));
  const std::string named = family == "abi"       ? "mpiexec"
                            : family == "openmpi" ? "mpiexec.openmpi"
                                                  : "mpiexec.mpich";
  return find_program(named).empty() ? "mpiexec" : named;
}

std::vector<std::string> launcher_words(const std::string& option) {
  std::vector<std::string> words;
  std::istringstream text(option);
  for (std::string word; text >> word;) words.push_back(word);
  if (words.empty()) words = {default_launcher("")};
  return words;
}

bool is_setting(const std::string& text) {
  const std::size_t end = text.find('=');
  const auto is_of_name = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.';
  };
  return end != std::string::npos && end > 0 &&
         std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), is_of_name);
}

std::vector<std::string> launch_line(const std::string& launcher, int ranks,
                                     const std::vector<std::string>& settings,
                                     const std::vector<std::string>& program) {
  std::vector<std::string> line = launcher_words(launcher);
  if (ranks > 0) {
    line.emplace_back("-n");
    line.push_back(std::to_string(ranks));
  }
  if (!settings.empty()) {
    line.emplace_back("env");
    line.insert(line.end(), settings.begin(), settings.end());
  }
  line.insert(line.end(), program.begin(), program.end());
  return line;
}

int launch(std::string_view verb, const std::vector<std::string>& line) {
  std::vector<char*> words;
  for (const std::string& word : line) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  // The child reports over this pipe that it could not start; else exec closes it.
  int started[2];
  if (pipe2(started, O_CLOEXEC) != 0) return fail(verb, std::strerror(errno), kExitNoLauncher);

  sigset_t ours, before;
  sigemptyset(&ours);
  for (const int signal : kForwarded) sigaddset(&ours, signal);
  sigprocmask(SIG_BLOCK, &ours, &before);
  const pid_t child = fork();
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    unsetenv("CHAMELEON_LIBRARY");  // this command's, not the tracer's
    execvp(words[0], words.data());
    const int error = errno;
    if (write(started[1], &error, sizeof error) < 0) _exit(126);
    _exit(kExitNoLauncher);
  }
  close(started[1]);
  if (child < 0) {
    close(started[0]);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return fail(verb, std::string("cannot start: ") + std::strerror(errno), kExitNoLauncher);
  }
  launcher_process = child;
  std::array<struct sigaction, kForwarded.size()> earlier{};
  struct sigaction action {};
  action.sa_sigaction = forward_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kForwarded.size(); ++i)
    sigaction(kForwarded[i], &action, &earlier[i]);
  sigprocmask(SIG_SETMASK, &before, nullptr);

  int error = 0;
  ssize_t got = 0;
  do got = read(started[0], &error, sizeof error);
  while (got < 0 && errno == EINTR);
  close(started[0]);

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  launcher_process = 0;
  for (std::size_t i = 0; i < kForwarded.size(); ++i)
    sigaction(kForwarded[i], &earlier[i], nullptr);
  if (got == static_cast<ssize_t>(sizeof error))
    return fail(verb, "cannot start the launcher " + line.front() + ": " + std::strerror(error),
                kExitNoLauncher);
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  return WEXITSTATUS(status);
}

}  // namespace chameleon::tools
