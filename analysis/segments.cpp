// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/segments.h"

#include <algorithm>
#include <array>

namespace chameleon::analysis {
namespace {

constexpr std::array<const char*, 3> kSplitNames = {"auto", "wait", "context"};

bool completes(const Operation& operation) {
  using Kind = Operation::Kind;
  return operation.request != 0 &&
         (operation.kind == Kind::kReceive || operation.kind == Kind::kSendDone ||
          operation.kind == Kind::kCancelled || operation.kind == Kind::kEnd);
}

}  // namespace

const char* split_name(SplitRule rule) { return kSplitNames[static_cast<std::size_t>(rule)]; }

bool split_of(std::string_view name, SplitRule& rule) {
  const auto found = std::find(kSplitNames.begin(), kSplitNames.end(), name);
  if (found == kSplitNames.end()) return false;
  rule = static_cast<SplitRule>(found - kSplitNames.begin());
  return true;
}

bool symbol_of(const RankOperations& at, const Operation& operation, Symbol& symbol) {
  using Kind = Operation::Kind;
  switch (operation.kind) {
    case Kind::kSend: symbol = {Symbol::Kind::kSend, operation.channel.dest}; return true;
    case Kind::kPost:
    case Kind::kReceive:
      if (operation.kind == Kind::kReceive && operation.request != 0) return false;
      symbol = {Symbol::Kind::kReceive,
                operation.peer < 0 ? Symbol::kNobody : operation.channel.source};
      return true;
    case Kind::kBegin:
      symbol = {Symbol::Kind::kCollective, at.event().node->call};
      return operation.moves_data;
    default: return false;
  }
}

Segmenter::Beginning Segmenter::beginning(const RankOperations& at) {
  Beginning found;
  for (const Operation& operation : at.operations()) {
    Symbol symbol;
    if (!symbol_of(at, operation, symbol)) continue;
    found.collective = symbol.kind == Symbol::Kind::kCollective;
    found.key = combine(found.key == 0 ? at.event().node->symbol() : found.key, symbol.packed());
  }
  return found;
}

bool Segmenter::ends_before(const RankOperations& at, std::uint64_t context) const {
  if (!open_) return false;
  const Beginning next = beginning(at);
  if (next.key == 0) return false;
  if (next.collective != collective_) return true;
  if (rule_ != SplitRule::kWait && context != context_) return true;
  return rule_ == SplitRule::kAuto && requests_ == 0 && next.key == first_;
}

bool Segmenter::add(const RankOperations& at, std::uint64_t context) {
  const Beginning begins = beginning(at);
  if (!open_ && begins.key != 0) {
    open_ = true;
    collective_ = begins.collective;
    context_ = context;
    first_ = begins.key;
  }
  if (!open_) return false;
  bool completed = false;
  for (const Operation& operation : at.operations()) {
    Symbol symbol;
    if (operation.request == 0) continue;
    if (symbol_of(at, operation, symbol)) {
      if (posted_.empty()) first_request_ = operation.request;
      if (operation.request < first_request_) continue;
      posted_.resize(std::max<std::size_t>(posted_.size(), operation.request - first_request_ + 1));
      posted_[operation.request - first_request_] = true;
      ++requests_;
    } else if (completes(operation) && operation.request >= first_request_ &&
               operation.request - first_request_ < posted_.size() &&
               posted_[operation.request - first_request_]) {
      posted_[operation.request - first_request_] = false;
      completed = --requests_ == 0;
    }
  }
  if (rule_ == SplitRule::kWait) return at.plan().action == Action::kCompleteAll;
  return rule_ == SplitRule::kAuto && completed && requests_ == 0;
}

void Segmenter::close() {
  open_ = false;
  posted_.clear();
  requests_ = 0;
}

}  // namespace chameleon::analysis
