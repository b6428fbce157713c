// SPDX-License-Identifier: BSD-3-Clause
#include "started_program.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/foreign_lines.h"
#include "elf_file.h"
#include "python_program.h"
#include "runtimes.h"

namespace chameleon::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100;
constexpr std::size_t kMostInterpreters = 4;
constexpr std::size_t kMostText = 1U << 16;
constexpr int kDeepest = 4;

bool is_shell(std::string_view path) {
  constexpr std::array kShells = {"sh", "bash", "dash", "ksh", "zsh", "ash", "busybox"};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

/// Whether a word is NAME=VALUE.
bool is_setting(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos || std::isdigit(word.front()) != 0)
    return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// The first 64 KiB of a regular file.
std::string begin_of(const std::string& path) {
  ForeignLines file(path);
  if (!file) return {};
  std::string text(kMostText, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// The usual ways in which a script names the folder that it is in.
std::string with_own_folder(std::string text, const std::string& path) {
  const std::string folder = path.find('/') == std::string::npos
                                 ? "."
                                 : path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
  for (const char* way : {"$(cd \"$(dirname \"$0\")\" && pwd)", "$(dirname \"${BASH_SOURCE[0]}\")",
                          "$(dirname \"$0\")", "$(dirname $0)", "${0%/*}"})
    for (auto at = text.find(way); at != std::string::npos; at = text.find(way, at + folder.size()))
      text.replace(at, std::strlen(way), folder);
  return text;
}

/// The words of a shell's text: no more of its grammar than quotes and comments.
std::vector<std::string> shell_words(std::string_view text) {
  constexpr std::string_view kBetween = " \t\r\n;|&()<>`";
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? '\0' : c;
    } else if (quote == 0 && c == '#' && word.empty()) {
      at = std::min(text.find('\n', at), text.size());
    } else if (quote != 0 || kBetween.find(c) == std::string_view::npos) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

class Search {
 public:
  explicit Search(std::vector<std::string> settings) : settings_(std::move(settings)) {}

  /// The first program of MPI among the words of a command, else in the scripts among them.
  bool in_command(const std::vector<std::string>& words, int depth) {
    std::vector<std::string> scripts;
    bool shell = false;
    for (const std::string& word : words) {
      if (word.empty() || (&word != &words.front() && word.front() == '-')) continue;
      if (shell && word.find_first_of(" \t\n") != std::string::npos) {  // sh -c 'COMMAND'
        if (depth < kDeepest && in_text(word, depth)) return true;
        continue;
      }
      if (set(word)) continue;
      const std::string path = file_of(word);
      if (path.empty()) continue;
      shell = shell || is_shell(path);
      if (is_program(path)) return true;
      if (shell || is_script(path)) scripts.push_back(path);
    }
    return depth < kDeepest && std::any_of(scripts.begin(), scripts.end(), [&](const auto& path) {
             return in_script(path, shell, depth);
           });
  }

  StartedProgram found() && {
    found_.settings = std::move(settings_);
    return std::move(found_);
  }

 private:
  /// Takes NAME=VALUE, with the variables in it replaced.
  bool set(const std::string& word) {
    if (!is_setting(word)) return false;
    // What a command prints ("$(pwd)") is not known here.
    if (word.back() != '$') settings_.push_back(expanded(word));
    return true;
  }

  /// $NAME and ${NAME} replaced.
  std::string expanded(const std::string& word) const {
    std::string text;
    for (std::size_t at = 0; at < word.size(); ++at) {
      if (word[at] != '$') {
        text += word[at];
        continue;
      }
      const bool braces = at + 1 < word.size() && word[at + 1] == '{';
      std::size_t end = at + 1 + (braces ? 1 : 0);
      const std::size_t begin = end;
      while (end < word.size() &&
             (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_'))
        ++end;
      text += variable(word.substr(begin, end - begin), settings_);
      at = braces && end < word.size() && word[end] == '}' ? end : end - 1;
    }
    return text;
  }

  std::string file_of(const std::string& word) const {
    std::string path = find_program(word, settings_);
    std::error_code error;
    if (path.empty()) path = word;  // `sh FILE`
    return fs::is_regular_file(path, error) ? path : std::string();
  }

  bool is_script(const std::string& path) const { return begin_of(path).starts_with("#!"); }

  /// Whether the file is linked with MPI, or is an interpreter, or a script for one, with mpi4py.
  bool is_program(const std::string& path) {
    if (!seen_.insert(path).second || seen_.size() > kMostFiles) return false;
    if (names_python(path)) return is_python(path);
    const std::string text = begin_of(path);
    if (text.starts_with("#!")) {
      for (const std::string& word : split(text.substr(2, text.find('\n') - 2), " \t\r"))
        if (names_python(word)) return is_python(find_program(word, settings_));
      return false;
    }
    if (!text.starts_with("\177ELF")) return false;
    const Result<ElfFile> elf = read_elf(path);
    if (!elf || !elf->native || !elf->is_program_or_library) return false;
    bool mpi = elf->defines_mpi;
    for (const LoadedLibrary& library : loaded_libraries(*elf, settings_))
      mpi = mpi || mpi_of(library.name) != nullptr;
    if (mpi) found_.program = path;
    return mpi;
  }

  bool is_python(const std::string& interpreter) {
    if (interpreter.empty() || ++asked_ > kMostInterpreters) return false;
    found_.module = find_mpi4py(interpreter, settings_);
    found_.program = found_.module.empty() ? std::string() : interpreter;
    return !found_.module.empty();
  }

  bool in_script(const std::string& path, bool shell, int depth) {
    if (!read_.insert(path).second) return false;
    const std::string text = begin_of(path);
    if (text.find('\0') != std::string::npos) return false;
    if (text.starts_with("#!")) {
      const auto words = split(text.substr(2, text.find('\n') - 2), " \t\r");
      shell = std::any_of(words.begin(), words.end(), is_shell);
    }
    return shell && in_text(with_own_folder(text, path), depth);
  }

  /// Text of a shell. A compiled program that it names is more likely meant than Python, which
  /// scripts use for much else.
  bool in_text(const std::string& text, int depth) {
    std::vector<std::string> interpreters, scripts;
    for (const std::string& word : shell_words(text)) {
      if (set(word)) continue;
      if (word.find_first_of(" \t\n") != std::string::npos) {  // sh -c "COMMAND"
        if (depth + 1 < kDeepest && in_text(word, depth + 1)) return true;
        continue;
      }
      const std::string path = file_of(expanded(word));
      if (path.empty()) continue;
      if (names_python(path)) {
        interpreters.push_back(path);
      } else if (is_script(path)) {
        scripts.push_back(path);
      } else if (is_program(path)) {
        return true;
      }
    }
    const auto program = [&](const std::string& path) { return is_program(path); };
    const auto script = [&](const std::string& path) {
      return is_program(path) || (depth + 1 < kDeepest && seen_.size() < kMostFiles &&
                                  in_script(path, false, depth + 1));
    };
    return std::any_of(scripts.begin(), scripts.end(), script) ||
           std::any_of(interpreters.begin(), interpreters.end(), program);
  }

  std::vector<std::string> settings_;
  std::set<std::string> seen_;  ///< files asked about
  std::set<std::string> read_;  ///< scripts whose text was read
  std::size_t asked_ = 0;
  StartedProgram found_;
};

}  // namespace

std::optional<StartedProgram> find_started(const std::vector<std::string>& command,
                                           const std::vector<std::string>& settings) {
  Search search(settings);
  if (!search.in_command(command, 0)) return std::nullopt;
  return std::move(search).found();
}

}  // namespace chameleon::tools
