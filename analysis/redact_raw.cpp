// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/redact_raw.h"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>

#include "analysis/raw_reader.h"
#include "base/foreign_lines.h"
#include "base/new_file.h"

namespace chameleon::analysis {
namespace {

class RawRedaction {
 public:
  RawRedaction(const Trace& trace, RedactedTexts texts) : texts_(std::move(texts)) {
    for (const auto& [id, call] : trace.calls)
      for (const Field& field : call.fields)
        if (auto& names = strings_[call.name]; field.kind == "string") names.insert(field.name);
  }

  /// A line without what it says in letters.
  std::string line(std::string_view from) {
    if (from.starts_with('#')) return std::string(from);
    std::string to;
    const std::set<std::string, std::less<>>* strings = nullptr;
    for (bool is_call = true; !from.empty();) {
      const std::size_t end = std::min(from.find(' '), from.size());
      const std::string_view word = from.substr(0, end);
      if (is_call && !word.starts_with('@')) {
        is_call = false;
        if (const auto call = strings_.find(word); call != strings_.end()) strings = &call->second;
        to += word;
      } else {
        value(word, strings, to);
      }
      if (end < from.size()) to += ' ';
      from.remove_prefix(std::min(end + 1, from.size()));
    }
    return to;
  }

 private:
  void value(std::string_view word, const std::set<std::string, std::less<>>* strings,
             std::string& to) {
    const std::size_t begin = word.find("=[");
    const bool is_array = begin != std::string_view::npos && word.ends_with(']');
    if (!is_array || (strings != nullptr && !strings->contains(word.substr(0, begin)))) {
      to += word;
      return;
    }
    to += word.substr(0, begin + 2);
    if (strings != nullptr) letters(word.substr(begin + 2, word.size() - begin - 3), to);
    to += ']';
  }

  void letters(std::string_view numbers, std::string& to) {
    std::vector<std::int64_t> text;
    while (!numbers.empty()) {
      std::int64_t letter = 0;
      const auto [end, error] =
          std::from_chars(numbers.data(), numbers.data() + numbers.size(), letter);
      if (error != std::errc()) break;
      text.push_back(letter);
      numbers.remove_prefix(
          std::min(static_cast<std::size_t>(end - numbers.data()) + 1, numbers.size()));
    }
    if (text.empty()) return;
    const std::string& name = texts_.name(text);
    for (std::size_t i = 0; i < name.size(); ++i)
      to += (i == 0 ? "" : ",") + std::to_string(static_cast<unsigned char>(name[i]));
  }

  RedactedTexts texts_;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> strings_;  ///< by call
};

Status copy(RawRedaction& redaction, const std::string& from, const std::string& to) {
  ForeignLines in(from);
  if (!in) return Error{ErrorKind::kSystem, from + ": cannot be read", 0};
  NewFile out(to);
  for (std::string line; std::getline(in, line);) {
    line = redaction.line(line);
    if (!in.eof()) line += '\n';  // that of a killed job may be cut
    if (!out.write(line.data(), line.size())) break;
  }
  return out.commit();
}

}  // namespace

Result<std::size_t> redact_raw(const Trace& trace, RedactedTexts texts, const std::string& from,
                               const std::string& to) {
  RawRedaction redaction(trace, std::move(texts));
  std::size_t files = 0;
  for (std::uint32_t rank = 0; rank < trace.world_size; ++rank)
    for (std::uint32_t thread = 0; thread < trace.threads; ++thread) {
      if (!RawReader::exists(from, rank, thread)) continue;
      if (files++ == 0 && ::mkdir(to.c_str(), 0755) != 0)
        return Error{ErrorKind::kSystem, to + ": " + std::strerror(errno), 0};
      const std::string path = RawReader::file_of(from, rank, thread);
      if (const Status copied = copy(redaction, path, RawReader::file_of(to, rank, thread));
          !copied)
        return copied.error();
    }
  if (files == 0) return Error{ErrorKind::kSystem, from + ": there are no raw records in it", 0};
  return files;
}

}  // namespace chameleon::analysis
