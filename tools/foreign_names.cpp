// SPDX-License-Identifier: BSD-3-Clause
#include "tools/foreign_names.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/plain_text.h"

namespace chameleon::tools {
namespace {

void make_printable(std::string& text) {
  for (const char letter : text)
    if (letter < ' ' || letter > '~') {
      text = plain_text(text);
      return;
    }
}

/// Facts are numbers or texts.
template <class T>
void make_fact_printable(T& fact) {
  if constexpr (std::is_same_v<T, std::string>) make_printable(fact);
}

}  // namespace

void make_names_printable(Trace& trace) {
  std::string rules = std::move(trace.rules);  // text of several lines
#define CHAMELEON_RUN_FACT(type, name, unit, join, since, meaning) make_fact_printable(trace.name);
#define CHAMELEON_ONLINE_FACT(type, name, unit, join, since, meaning) \
  make_fact_printable(trace.online.name);
#include "chameleon/facts.inc"
  trace.rules.clear();
  for (std::size_t at = 0; at < rules.size();) {
    const std::size_t end = std::min(rules.find('\n', at), rules.size());
    std::string line = rules.substr(at, end - at);
    make_printable(line);
    trace.rules += line + (end < rules.size() ? "\n" : "");
    at = end + 1;
  }
  for (auto& entry : trace.facts) {
    RankFacts& facts = entry.second;
#define CHAMELEON_RANK_FACT(type, name, unit, join, since, meaning) make_fact_printable(facts.name);
#include "chameleon/facts.inc"
  }
  for (CarriedFact& fact : trace.carried) {
    make_printable(fact.name);
    for (std::string& text : fact.texts) make_printable(text);
  }
  for (auto& [id, call] : trace.calls) {
    make_printable(call.name);
    for (Field& field : call.fields) {
      make_printable(field.name);
      make_printable(field.kind);
    }
  }
  for (auto& [id, module] : trace.modules) {
    make_printable(module.path);
    make_printable(module.build_id_hex);
  }
  for (auto& [id, source] : trace.sources) {
    make_printable(source.file);
    make_printable(source.function);
  }
  for (auto& [kind, objects] : trace.predefined)
    for (Predefined& object : objects) make_printable(object.name);
  for (Declaration& declared : trace.declarations) make_printable(declared.what);
}

}  // namespace chameleon::tools
