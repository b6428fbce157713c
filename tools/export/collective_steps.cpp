// SPDX-License-Identifier: BSD-3-Clause
#include "tools/export/collective_steps.h"

namespace chameleon::tools {
namespace {

using Steps = std::vector<CollectiveStep>;

std::int64_t at(const std::vector<std::int64_t>& list, std::int32_t i) {
  return static_cast<std::size_t>(i) < list.size() ? list[static_cast<std::size_t>(i)] : 0;
}

void exchange(Steps& steps, std::int32_t to, std::int64_t out, std::int32_t from, std::int64_t in) {
  CollectiveStep step;
  if (out > 0) {
    step.to = to;
    step.send_bytes = out;
  }
  if (in > 0) {
    step.from = from;
    step.receive_bytes = in;
  }
  if (out > 0 || in > 0) steps.push_back(step);
}

void barrier(Steps& steps, std::int32_t n, std::int32_t me) {
  for (std::int32_t k = 1; k < n; k *= 2) exchange(steps, (me + k) % n, 1, (me - k + n) % n, 1);
}

// Binomial tree, ranks counted from the root.
void broadcast(Steps& steps, std::int32_t n, std::int32_t me, std::int32_t root,
               std::int64_t bytes) {
  const std::int32_t place = (me - root + n) % n;
  std::int32_t mask = 1;
  for (; mask < n && (place & mask) == 0; mask *= 2) {
  }
  if (place != 0) exchange(steps, -1, 0, (place - mask + root) % n, bytes);
  if (place == 0)
    for (mask = 1; mask < n; mask *= 2) {
    }
  for (mask /= 2; mask > 0; mask /= 2)
    if (place + mask < n) exchange(steps, (place + mask + root) % n, bytes, -1, 0);
}

void reduce(Steps& steps, std::int32_t n, std::int32_t me, std::int32_t root, std::int64_t bytes) {
  const std::int32_t place = (me - root + n) % n;
  for (std::int32_t mask = 1; mask < n; mask *= 2) {
    if ((place & mask) != 0) {
      exchange(steps, (place - mask + root) % n, bytes, -1, 0);
      return;
    }
    if (place + mask < n) exchange(steps, -1, 0, (place + mask + root) % n, bytes);
  }
}

void pairwise(Steps& steps, std::int32_t n, std::int32_t me, const std::vector<std::int64_t>& out,
              const std::vector<std::int64_t>& in) {
  for (std::int32_t k = 1; k < n; ++k) {
    const std::int32_t to = (me + k) % n, from = (me - k + n) % n;
    exchange(steps, to, at(out, to), from, at(in, from));
  }
}

void ring(Steps& steps, std::int32_t n, std::int32_t me, const std::vector<std::int64_t>& blocks) {
  for (std::int32_t k = 0; k + 1 < n; ++k)
    exchange(steps, (me + 1) % n, at(blocks, (me - k + n) % n), (me - 1 + n) % n,
             at(blocks, (me - k - 1 + 2 * n) % n));
}

std::vector<std::int64_t> equal(std::int32_t n, std::int64_t bytes) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(n), bytes);
}

void to_root(Steps& steps, std::int32_t n, std::int32_t me, std::int32_t root, std::int64_t mine,
             const std::vector<std::int64_t>& all) {
  if (me != root) return exchange(steps, root, mine, -1, 0);
  for (std::int32_t i = 0; i < n; ++i)
    if (i != root) exchange(steps, -1, 0, i, at(all, i));
}

void from_root(Steps& steps, std::int32_t n, std::int32_t me, std::int32_t root, std::int64_t mine,
               const std::vector<std::int64_t>& all) {
  if (me != root) return exchange(steps, -1, 0, root, mine);
  for (std::int32_t i = 0; i < n; ++i)
    if (i != root) exchange(steps, i, at(all, i), -1, 0);
}

}  // namespace

bool collective_steps(const CallPlan& plan, const Operation& operation, const VectorBytes& vectors,
                      std::int32_t n, std::int32_t self, Steps& steps) {
  steps.clear();
  const Movement& movement = plan.movement;
  const bool blocks = movement.part == Movement::Part::kBlock;
  const std::int32_t root = operation.root < 0 ? 0 : operation.root;
  const std::int64_t sent = operation.sent, received = operation.received;
  const std::int64_t each_sent = n == 0 ? 0 : sent / n, each_received = n == 0 ? 0 : received / n;
  if (!movement.moves()) {
    if (plan.info != nullptr && has(*plan.info, Attribute::kNeighbor)) return false;
    if (plan.waits == Waits::kForAll) barrier(steps, n, self);
  } else if (movement.from_root()) {
    if (!blocks)
      broadcast(steps, n, self, root, sent + received);
    else
      from_root(steps, n, self, root, received,
                plan.many_sent ? vectors.sent : equal(n, each_sent));
  } else if (movement.to_root()) {
    if (plan.combines)
      reduce(steps, n, self, root, sent);
    else
      to_root(steps, n, self, root, sent,
              plan.many_received ? vectors.received : equal(n, each_received));
  } else if (movement.from != Movement::From::kAll) {  // a scan: up the ranks
    if (self > 0) exchange(steps, -1, 0, self - 1, sent);
    if (self + 1 < n) exchange(steps, self + 1, sent, -1, 0);
  } else if (plan.combines && !blocks) {
    reduce(steps, n, self, 0, sent);
    broadcast(steps, n, self, 0, sent);
  } else if (plan.combines) {
    pairwise(steps, n, self, plan.many_received ? vectors.received : equal(n, received),
             equal(n, received));
  } else if (!blocks) {
    ring(steps, n, self, plan.many_received ? vectors.received : equal(n, each_received));
  } else if (plan.many_sent) {
    pairwise(steps, n, self, vectors.sent, vectors.received);
  } else {
    pairwise(steps, n, self, equal(n, each_sent), equal(n, each_received));
  }
  return true;
}

}  // namespace chameleon::tools
