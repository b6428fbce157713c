// SPDX-License-Identifier: BSD-3-Clause
#include "base/masked_arguments.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>

namespace chameleon::inline base {
namespace {

/// Anywhere in a name.
constexpr std::array<std::string_view, 11> kParts = {
    "password", "passwd", "passphrase", "passcode",  "secret",       "token",
    "credent",  "apikey", "privatekey", "accesskey", "authorization"};
/// As one of the words that a name is made of.
constexpr std::array<std::string_view, 10> kWords = {"pass", "pwd",    "pw",     "key", "keys",
                                                     "auth", "bearer", "cookie", "pin", "sig"};

char lower_letter(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
bool is_letter(char letter) { return lower_letter(letter) >= 'a' && lower_letter(letter) <= 'z'; }
bool is_of_name(char letter) {
  return is_letter(letter) || (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' ||
         letter == '.';
}
bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\n'; }
bool is_quote(char letter) { return letter == '"' || letter == '\'' || letter == '\\'; }

/// The name that ends before `end`, behind quotes and blanks.
std::string_view name_before(std::string_view text, std::size_t end) {
  while (end > 0 && (is_quote(text[end - 1]) || is_blank(text[end - 1]))) --end;
  std::size_t begin = end;
  while (begin > 0 && is_of_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// As patterns have it: `--License_Key` as `license_key`.
std::string bare_name(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::string bare(name);
  std::transform(bare.begin(), bare.end(), bare.begin(), lower_letter);
  return bare;
}

void mask_users(std::string& text) {
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 1)) {
    const std::size_t begin = at + 3;
    std::size_t end = begin;
    while (end < text.size() && !is_blank(text[end]) && !is_quote(text[end])) ++end;
    const std::size_t host = text.rfind('@', end);
    if (host != std::string::npos && host >= begin && host < end)
      text.replace(begin, host - begin, kMasked);
  }
}

/// Masks what is behind the name of a secret in the argument itself.
void mask_values(std::string& text, const SecretNames& names) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool blank = is_blank(text[at]);
    if (text[at] != '=' && text[at] != ':' && !blank) continue;
    const std::string_view name = name_before(text, at);
    if (blank && !name.starts_with('-')) continue;
    if (!names.contain(name) || at + 1 >= text.size()) continue;
    text.replace(at + 1, std::string::npos, kMasked);
    return;
  }
}

bool is_usual(std::string_view name) {
  std::string plain, word;
  bool found = false;
  const auto end_word = [&] {
    found = found || std::find(kWords.begin(), kWords.end(), word) != kWords.end();
    word.clear();
  };
  char before = 0;
  for (const char letter : name) {
    const bool capital = letter != lower_letter(letter);
    if (!is_letter(letter) || (capital && is_letter(before) && before == lower_letter(before)))
      end_word();  // of snake_case, and of camelCase
    if (is_letter(letter)) {
      plain += lower_letter(letter);
      word += lower_letter(letter);
    }
    before = letter;
  }
  end_word();
  return found || std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
           return plain.find(part) != std::string::npos;
         });
}

}  // namespace

bool SecretNames::contain(std::string_view name) const {
  if (usual && is_usual(name)) return true;
  const std::string bare = bare_name(name);
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), bare.c_str(), 0) == 0;
  });
}

bool secret_names_of(std::string_view text, SecretNames& names) {
  names = {};
  for (bool first = true;; first = false) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string name = bare_name(text.substr(0, end));
    if (name.empty()) return false;
    if (first && name == "off")
      names.usual = false;
    else
      names.patterns.push_back(std::move(name));
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> masked_arguments(std::vector<std::string> arguments,
                                          const SecretNames& names) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    mask_users(arguments[i]);
    const std::string& word = arguments[i];
    const bool alone = word.starts_with('-') && word.find_first_of("=: \t\n") == std::string::npos;
    if (alone && names.contain(word) && i + 1 < arguments.size() &&
        !arguments[i + 1].starts_with("--")) {
      arguments[++i] = kMasked;
      continue;
    }
    mask_values(arguments[i], names);
  }
  return arguments;
}

}  // namespace chameleon::inline base
