# SPDX-License-Identifier: BSD-3-Clause
"""A ring of ranks that exchange their edges with both neighbours, and a sum now and then."""

import sys

import ranks


class Domain:
    def __init__(self, cells):
        self.cells = [ranks.rank * 100 + i for i in range(cells)]

    def exchange(self):
        left, right = (ranks.rank - 1) % ranks.size, (ranks.rank + 1) % ranks.size
        first = ranks.sendrecv(self.cells[-1], right, left)
        last = ranks.sendrecv(self.cells[0], left, right)
        return first, last

    def step(self):
        first, last = self.exchange()
        row = [first, *self.cells, last]
        self.cells = [(row[i - 1] + row[i + 1]) // 2 for i in range(1, len(row) - 1)]

    def total(self):
        return ranks.allreduce(sum(self.cells))


def solve(steps):
    domain = Domain(8)
    for step in range(steps):
        domain.step()
        if step % 10 == 9:
            domain.total()
        ranks.marker()
    return domain.total()


total = solve(int(sys.argv[1]))
if ranks.rank == 0:
    print(f"total {total}")
ranks.finish()
