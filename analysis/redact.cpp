// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/redact.h"

#include <algorithm>
#include <set>

namespace chameleon::analysis {
namespace {

void drop_folder(std::string& path) { path.erase(0, path.rfind('/') + 1); }

/// host1, host2, ... in the order in which they come.
class Hosts {
 public:
  void rename(std::string& host) {
    if (host.empty()) return;
    const auto [entry, fresh] = known_.try_emplace(host);
    if (fresh) entry->second = "host" + std::to_string(known_.size());
    host = entry->second;
  }

 private:
  std::map<std::string, std::string> known_;
};

/// The arrays that hold the letters of texts.
class Texts {
 public:
  explicit Texts(Trace& trace) : trace_(trace) { find(trace.nodes, trace.ranks); }

  /// The reader names arrays by their content again.
  RedactedTexts rename() {
    if (too_long_)
      for (const auto& [id, letters] : trace_.arrays)
        if (is_text(letters)) found_.insert(id);
    RedactedTexts texts;
    for (const std::uint64_t id : found_) {
      const auto array = trace_.arrays.find(id);
      if (array == trace_.arrays.end() || array->second.empty()) continue;
      const std::string& name = texts.name(array->second);
      array->second.assign(name.begin(), name.end());
    }
    return texts;
  }

 private:
  /// A sequence of names that is longer was made to take long.
  static constexpr std::uint64_t kMostNames = 1U << 24;

  static bool is_text(const std::vector<std::int64_t>& letters) {
    return std::all_of(letters.begin(), letters.end(),
                       [](std::int64_t letter) { return letter > 0 && letter < 256; });
  }

  void find(const std::vector<Node>& nodes, const RankList& around) {
    for (const Node& node : nodes) {
      const RankList& ranks = node.ranks.empty() ? around : node.ranks;
      find(node.body, ranks);
      const auto call = trace_.calls.find(node.call);
      if (node.is_loop() || call == trace_.calls.end()) continue;
      const std::vector<Field>& fields = call->second.fields;
      for (std::size_t i = 0; i < std::min(fields.size(), node.params.size()); ++i)
        if (fields[i].kind == "string") find(node.params[i], ranks);
    }
  }

  void find(const Param& param, const RankList& ranks) {
    param.for_each_group(ranks, [&](const RankList&, EndPointForm, const ValueSequence& values) {
      if (values.is_constant()) {
        found_.insert(static_cast<std::uint64_t>(values.front()));
        return;
      }
      if (values.size() > kMostNames) {
        too_long_ = true;
        return;
      }
      for (ValueSequence::Cursor cursor(values); !cursor.done();)
        found_.insert(static_cast<std::uint64_t>(cursor.next()));
    });
  }

  Trace& trace_;
  std::set<std::uint64_t> found_;
  bool too_long_ = false;
};

}  // namespace

const std::string& RedactedTexts::name(const std::vector<std::int64_t>& letters) {
  const auto [entry, fresh] = known_.try_emplace(letters);
  if (fresh) entry->second = "text" + std::to_string(known_.size());
  return entry->second;
}

RedactedTexts redact(Trace& trace) {
  trace.command_line.clear();
  trace.directory.clear();
  trace.rules.clear();
  trace.writer_process = 0;
  Hosts hosts;
  hosts.rename(trace.writer_host);
  for (auto& [stream, facts] : trace.facts) {
    hosts.rename(facts.host);
    facts.no_energy = facts.no_energy.empty() ? "" : "left out";
    facts.no_instructions = facts.no_instructions.empty() ? "" : "left out";
  }
  drop_folder(trace.program);
  for (auto& [id, module] : trace.modules) drop_folder(module.path);
  for (auto& [id, source] : trace.sources) drop_folder(source.file);
  std::erase_if(trace.carried, [](const CarriedFact& fact) { return fact.is_text; });
  return Texts(trace).rename();
}

}  // namespace chameleon::analysis
