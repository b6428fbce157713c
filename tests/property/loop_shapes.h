// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Programs of nested loops whose folded size is known by construction: every call site occurs
/// once in the text of the program, so its text, with each loop written once, is what a fold
/// should find. A loop may be left in the middle of its last iteration or entered in the middle
/// of its first, go round another number of times at each visit and on each rank, and take two
/// branches in turn.

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "property/streams.h"

namespace chameleon::testing {

struct Statement {
  int site = 0;
  std::vector<Statement> body;     ///< not empty: a loop
  int iterations = 0;              ///< at least
  int by_visit = 1, by_rank = 1;   ///< up to so many more, less one
  std::size_t head = 0, tail = 0;  ///< statements of a last part before, a first part after
};
using Program = std::vector<Statement>;

inline Statement call(int site) {
  Statement statement;
  statement.site = site;
  return statement;
}

/// `by_visit`: the number of iterations varies by so many.
inline Statement loop(int iterations, Program body, int by_visit = 1, std::size_t tail = 0) {
  Statement statement;
  statement.iterations = iterations;
  statement.body = std::move(body);
  statement.by_visit = by_visit;
  statement.tail = tail;
  return statement;
}

/// Nodes of the program's text.
inline std::size_t ideal_nodes(const Program& program, std::size_t first, std::size_t end) {
  std::size_t count = 0;
  for (std::size_t i = first; i < end; ++i) {
    const Statement& s = program[i];
    const std::size_t size = s.body.size();
    ++count;
    if (size != 0)
      count += ideal_nodes(s.body, 0, size) + ideal_nodes(s.body, size - s.head, size) +
               ideal_nodes(s.body, 0, s.tail);
  }
  return count;
}
inline std::size_t ideal_nodes(const Program& program) {
  return ideal_nodes(program, 0, program.size());
}

/// What a rank does, site by site; gives up when `most` events are exceeded.
class ProgramRun {
 public:
  ProgramRun(const Program& program, int rank, std::size_t most = 1U << 16)
      : rank_(rank), most_(most) {
    run(program, 0, program.size());
  }
  const std::vector<int>& sites() const { return sites_; }
  /// Where the iterations of outermost loops begin: markers.
  const std::vector<std::size_t>& markers() const { return markers_; }
  bool whole() const { return sites_.size() < most_; }

 private:
  void run(const Program& body, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end && sites_.size() < most_; ++i) {
      const Statement& s = body[i];
      if (s.body.empty()) {
        sites_.push_back(s.site);
        continue;
      }
      const std::size_t size = s.body.size();
      const auto visit = static_cast<int>(mix(visits_++) & 0xffff);
      const int count = s.iterations + visit % s.by_visit + rank_ % s.by_rank;
      ++depth_;
      run(s.body, size - s.head, size);
      for (int n = 0; n < count && sites_.size() < most_; ++n) {
        if (depth_ == 1) markers_.push_back(sites_.size());
        run(s.body, 0, size);
      }
      run(s.body, 0, s.tail);
      --depth_;
    }
  }

  int rank_;
  std::size_t most_;
  std::uint64_t visits_ = 0;
  int depth_ = 0;
  std::vector<int> sites_;
  std::vector<std::size_t> markers_;
};

/// Makes a program of chance.
class ShapeMaker {
 public:
  explicit ShapeMaker(std::uint64_t seed, bool alternating = true)
      : random_(seed), alternating_(alternating) {
    deepest_ = 1 + pick(5);
    most_sites_ = pick(8) == 0 ? 500 : 4 + pick(60);
  }

  Program make() {
    Program program = body(0, 1 + pick(4));
    while (sites_ < most_sites_ / 2) {
      Program more = body(0, 1 + pick(4));
      program.insert(program.end(), more.begin(), more.end());
    }
    return program;
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }

  /// A loop is never all that there is in a body: the two would be one loop.
  Program body(int depth, int statements) {
    Program result;
    for (int i = 0; i < statements; ++i)
      if (depth < deepest_ && sites_ < most_sites_ && pick(3) == 0)
        result.push_back(loop_at(depth + 1));
      else
        result.push_back(call(sites_++));
    if (result.size() == 1 && !result.front().body.empty())
      result.insert(pick(2) == 0 ? result.begin() : result.end(), call(sites_++));
    return result;
  }

  Statement loop_at(int depth) {
    Statement s;
    s.body = body(depth, 1 + pick(most_sites_ > 100 ? 12 : 5));
    s.iterations = 2 + pick(depth == 1 ? 30 : 4);
    if (depth > 1 && pick(3) == 0) s.iterations = 1;
    if (pick(2) == 0) s.by_visit = 1 + pick(5);
    if (pick(4) == 0) s.by_rank = 1 + pick(3);
    if (s.body.size() > 1 && pick(4) == 0)
      s.tail = 1 + static_cast<std::size_t>(pick(static_cast<int>(s.body.size()) - 1));
    else if (s.body.size() > 1 && pick(8) == 0)
      s.head = 1 + static_cast<std::size_t>(pick(static_cast<int>(s.body.size()) - 1));
    else if (pick(8) == 0 && alternating_)
      alternate(s.body);
    return s;
  }

  /// The statements twice, but for one that is another in the second.
  void alternate(Program& body) {
    Program twice = body;
    twice.insert(twice.end(), body.begin(), body.end());
    twice[body.size() + static_cast<std::size_t>(pick(static_cast<int>(body.size())))] =
        call(sites_++);
    body = std::move(twice);
  }

  std::mt19937_64 random_;
  bool alternating_;
  int deepest_, most_sites_;
  int sites_ = 0;
};

/// `loops` exchanges in a row, each of a receive, a send and a wait a partner.
inline Program exchanges(int& site, int loops, int partners) {
  Program program;
  for (int i = 0; i < loops; ++i) {
    program.push_back(loop(partners, {call(site), call(site + 1), call(site + 2)}));
    site += 3;
  }
  return program;
}

inline void add(Program& program, const Program& more) {
  program.insert(program.end(), more.begin(), more.end());
}

/// A conjugate-gradient solver: sums over rows in every inner step, the last without the rest.
inline Program cg_like() {
  int site = 10;
  Program step = exchanges(site, 2, 3);
  step.push_back(call(site++));
  add(step, exchanges(site, 2, 3));
  Program outer{call(0)};
  add(outer, exchanges(site, 1, 3));
  outer.push_back(loop(25, step));
  add(outer, exchanges(site, 3, 3));
  outer.push_back(call(1));
  return {call(2), call(3), call(4), loop(15, outer), call(5), call(6)};
}

/// A pipelined solver: sweeps of many planes, norms every so often.
inline Program lu_like() {
  int site = 10;
  const auto sweep = [&] {
    Program body{call(site), call(site + 1), call(site + 2), call(site + 3)};
    site += 4;
    return loop(31, body);
  };
  const auto faces = [&] {
    Program body;
    for (int i = 0; i < 12; ++i) body.push_back(call(site++));
    return body;
  };
  Program step{sweep(), sweep()};
  add(step, faces());
  return {call(0), call(1), call(2), call(3), loop(40, step), call(4), call(5)};
}

/// Cycles over levels, the test of convergence in the middle of the loop.
inline Program multigrid_like() {
  int site = 10;
  Program level = exchanges(site, 3, 2);
  level.push_back(call(site++));
  Program cycle{call(0), loop(4, level), call(1)};
  add(cycle, exchanges(site, 2, 3));
  Program step{call(2), loop(3, cycle, 4, 1), loop(2, {call(3), call(4), call(5)}, 3, 2)};
  return {call(6), call(7), loop(60, step), call(8)};
}

/// Five call paths, the last iteration of the inner loop in part.
inline Program partial_tail(int steps) {
  return {
      loop(steps, {call(0), loop(2, {call(1), call(2)}, 3, 1), call(3), loop(1, {call(4)}, 4)})};
}

/// The same at the end of a step.
inline Program partial_tail_at_end(int steps) {
  return {loop(steps, {call(0), call(3), call(4), loop(1, {call(1), call(2)}, 4, 1)})};
}

/// The events of a run; `labels` changes with the hashes of call paths and with nothing else.
inline Stream stream_of(const std::vector<int>& sites, std::uint64_t labels) {
  Stream stream;
  for (const int site : sites)
    stream.push_back({static_cast<std::uint16_t>(1 + site % 3),
                      combine(labels, static_cast<std::uint64_t>(site)),
                      {0, site, 0}});
  return stream;
}

/// The structure, with call sites (the second value) in place of hashes.
inline std::string text_of(const std::vector<Node>& nodes) {
  std::string text;
  for (const Node& node : nodes) {
    if (!text.empty()) text += ' ';
    if (node.is_loop())
      text += "(" + text_of(node.body) + ")^" + node.iterations.values().to_string(6);
    else
      text += std::to_string(node.params[1].values().front());
  }
  return text;
}

}  // namespace chameleon::testing
