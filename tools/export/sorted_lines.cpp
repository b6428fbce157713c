// SPDX-License-Identifier: BSD-3-Clause
#include "tools/export/sorted_lines.h"

#include <algorithm>
#include <array>
#include <queue>

namespace chameleon::tools {

void SortedLines::add(std::uint64_t time, std::string line) {
  bytes_ += line.size() + sizeof(Line);
  lines_.push_back({time, order_++, std::move(line)});
  if (bytes_ >= limit_) spill();
}

void SortedLines::spill() {
  std::sort(lines_.begin(), lines_.end());
  Run run(std::tmpfile());
  if (!run) {
    failed_ = true;
    return;
  }
  for (const Line& line : lines_) {
    const std::array<std::uint64_t, 3> head = {line.time, line.order, line.text.size()};
    static_assert(sizeof head == kHead);
    failed_ = failed_ || std::fwrite(head.data(), sizeof head, 1, run.get()) != 1 ||
              std::fwrite(line.text.data(), 1, line.text.size(), run.get()) != line.text.size();
  }
  failed_ = failed_ || std::fflush(run.get()) != 0;
  std::rewind(run.get());
  runs_.push_back(std::move(run));
  lines_.clear();
  bytes_ = 0;
}

bool SortedLines::read(std::FILE* file, Line& line) {
  std::array<std::uint64_t, 3> head{};
  if (std::fread(head.data(), sizeof head, 1, file) != 1) return false;
  line.time = head[0];
  line.order = head[1];
  line.text.resize(head[2]);
  return std::fread(line.text.data(), 1, line.text.size(), file) == line.text.size();
}

Status SortedLines::write(TextFile& file) {
  if (runs_.empty()) {
    std::sort(lines_.begin(), lines_.end());
    for (const Line& line : lines_) file << line.text;
    return Unit{};
  }
  spill();
  using Head = std::pair<Line, std::size_t>;
  const auto later = [](const Head& a, const Head& b) { return b.first < a.first; };
  std::priority_queue<Head, std::vector<Head>, decltype(later)> heads(later);
  Line line;
  for (std::size_t i = 0; i < runs_.size(); ++i)
    if (read(runs_[i].get(), line)) heads.emplace(line, i);
  while (!heads.empty()) {
    const Head head = heads.top();
    heads.pop();
    file << head.first.text;
    if (read(runs_[head.second].get(), line)) heads.emplace(line, head.second);
  }
  if (failed_) return Error{ErrorKind::kSystem, "a temporary file cannot be written", 0};
  return Unit{};
}

}  // namespace chameleon::tools
