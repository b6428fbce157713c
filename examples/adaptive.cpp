// SPDX-License-Identifier: BSD-3-Clause
// A code with an adaptive mesh: square blocks on three levels cover a periodic domain, and a hot
// spot wanders through it. Every second time step hot blocks are refined, cold ones coarsened, and
// all of them dealt out anew along a space-filling curve: blocks move between ranks, and a rank's
// neighbours, the number of its messages and their tags follow from the data. In between, heat
// flows between blocks that touch, and some of it is lost everywhere. Messages are completed in the
// order in which they arrive.
//
// Heat is counted in integers, so no rounding depends on who has which block: none may get lost in
// an exchange or on a move. Every message says whose it is, and of which time step.

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "example.h"

namespace {

constexpr int kWidest = 4;  // cells along the edge of a block that is not refined
constexpr std::int64_t kAtStart = 1 << 16, kAdded = std::int64_t{1} << 22;  // heat
constexpr int kLostShare = 32, kFlowShare = 16;

struct Block {
  int x = 0, y = 0, width = 1;  // cells
  int owner = 0;
  std::int64_t heat = 0;  // on its owner

  std::int64_t density() const { return heat / (width * width); }
  bool has(const Block& other) const {
    return other.width <= width && x <= other.x && other.x < x + width && y <= other.y &&
           other.y < y + width;
  }
};

// What travels: the heat of a block, and what it is.
using Parcel = std::array<std::int64_t, 5>;

Parcel parcel(const Block& block, int step) {
  return {block.heat, block.x, block.y, block.width, step};
}

// The place of a cell on the curve.
std::uint64_t on_curve(int x, int y) {
  std::uint64_t place = 0;
  for (int bit = 0; bit < 16; ++bit)
    place |= std::uint64_t(x >> bit & 1) << (2 * bit) | std::uint64_t(y >> bit & 1)
                                                            << (2 * bit + 1);
  return place;
}

// All ranks know all blocks in the order of the curve; what is in one only its owner knows.
class Mesh {
 public:
  explicit Mesh(example::Run& run)
      : run_(run), cells_(kWidest * run.options.size), at_(std::size_t(cells_) * cells_) {
    for (int y = 0; y < cells_; y += kWidest)
      for (int x = 0; x < cells_; x += kWidest) blocks_.push_back({x, y, kWidest, 0, kAtStart});
    set(std::move(blocks_));
    total_ = kAtStart * static_cast<std::int64_t>(blocks_.size());
  }

  // Heat flows, the hot spot adds some, some is lost.
  void flow(int step) {
    std::vector<std::int64_t> densities = exchange(step);
    std::vector<double> work;
    for (const int i : mine_) work.push_back(static_cast<double>(blocks_[i].heat));
    run_.compute(work);
    std::vector<std::int64_t> gains(blocks_.size());
    for (const int i : mine_)
      for (const int j : touching(i)) gains[i] += (densities[j] - densities[i]) / kFlowShare;
    std::array<std::int64_t, 3> sums{};  // of heat, added, lost
    for (const int i : mine_) {
      Block& block = blocks_[i];
      block.heat += gains[i];
      const std::int64_t lost = block.heat / kLostShare;
      block.heat -= lost;
      sums[2] += lost;
      const Block spot{.x = step / 2 * 3 % cells_, .y = step / 5 * 2 % cells_};
      if (block.has(spot)) block.heat += kAdded, sums[1] += kAdded;
      sums[0] += block.heat;
    }
    std::array<std::int64_t, 3> all{};
    MPI_Allreduce(sums.data(), all.data(), 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    total_ += all[1] - all[2];
    run_.check(all[1] == kAdded && all[0] == total_);
  }

  // Refines, coarsens, and moves blocks to their owners.
  void adapt(int step) {
    std::vector<int> widths = wanted_widths();
    std::vector<Block> before = std::move(blocks_);
    std::vector<Block> made;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const Block& block = before[i];
      if (widths[i] < block.width) {
        for (int part = 0; part < 4; ++part)
          made.push_back(
              {block.x + part % 2 * widths[i], block.y + part / 2 * widths[i], widths[i]});
      } else if (coarsens(before, widths, i)) {
        made.push_back({block.x, block.y, 2 * block.width});
        i += 3;
      } else {
        made.push_back({block.x, block.y, block.width});
      }
    }
    set(std::move(made));
    move(before, step);
  }

 private:
  void set(std::vector<Block> blocks) {
    blocks_ = std::move(blocks);
    std::sort(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) {
      return on_curve(a.x, a.y) < on_curve(b.x, b.y);
    });
    mine_.clear();
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      block.owner = static_cast<int>(i * run_.ranks / blocks_.size());
      if (block.owner == run_.rank) mine_.push_back(static_cast<int>(i));
      for (int y = block.y; y < block.y + block.width; ++y)
        for (int x = block.x; x < block.x + block.width; ++x) at_[cell(x, y)] = static_cast<int>(i);
    }
  }

  std::size_t cell(int x, int y) const {
    return std::size_t((y + cells_) % cells_) * cells_ + (x + cells_) % cells_;
  }

  // The blocks that share an edge with this one.
  std::set<int> touching(int i) const {
    const Block& block = blocks_[i];
    std::set<int> found;
    for (int k = 0; k < block.width; ++k)
      for (const auto& [x, y] : {std::pair{block.x + k, block.y - 1},
                                 {block.x - 1, block.y + k},
                                 {block.x + k, block.y + block.width},
                                 {block.x + block.width, block.y + k}})
        found.insert(at_[cell(x, y)]);
    found.erase(i);
    return found;
  }

  // The block with what was sent of it, which must be of this step.
  Block received(Block block, const Parcel& parcel, int step) {
    run_.check(parcel[1] == block.x && parcel[2] == block.y && parcel[3] == block.width &&
               parcel[4] == step);
    block.heat = parcel[0];
    return block;
  }

  // Calls f(which) for each receive, as they complete.
  template <class F>
  static void as_they_come(std::vector<MPI_Request>& receives, F f) {
    for (std::size_t left = receives.size(); left > 0; --left) {
      int which = 0;
      MPI_Waitany(static_cast<int>(receives.size()), receives.data(), &which, MPI_STATUS_IGNORE);
      f(which);
    }
  }

  // The density of each block that this rank has or that touches one of its own.
  std::vector<std::int64_t> exchange(int step) {
    std::vector<std::int64_t> densities(blocks_.size());
    std::set<int> theirs;
    std::set<std::pair<int, int>> wanted;  // my blocks, by who wants them
    for (const int i : mine_) {
      densities[i] = blocks_[i].density();
      for (const int j : touching(i))
        if (blocks_[j].owner != run_.rank) {
          theirs.insert(j);
          wanted.insert({blocks_[j].owner, i});
        }
    }
    std::vector<Parcel> in(theirs.size()), out(wanted.size());
    std::vector<MPI_Request> receives(in.size()), sends(out.size());
    const std::vector<int> numbers(theirs.begin(), theirs.end());
    for (std::size_t k = 0; k < in.size(); ++k)
      MPI_Irecv(in[k].data(), 5, MPI_INT64_T, blocks_[numbers[k]].owner, numbers[k], MPI_COMM_WORLD,
                &receives[k]);
    std::size_t sent = 0;
    for (const auto& [rank, i] : wanted) {
      out[sent] = parcel(blocks_[i], step);
      MPI_Isend(out[sent].data(), 5, MPI_INT64_T, rank, i, MPI_COMM_WORLD, &sends[sent]);
      ++sent;
    }
    as_they_come(receives, [&](int which) {
      const int number = numbers[which];
      densities[number] = received(blocks_[number], in[which], step).density();
    });
    MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
    return densities;
  }

  // What each block's owner wants it to be: half as wide, twice as wide, or as it is.
  std::vector<int> wanted_widths() {
    const std::int64_t mean = total_ / (std::int64_t{cells_} * cells_);
    std::vector<int> own, counts(run_.ranks), places(run_.ranks);
    for (const int i : mine_) {
      const Block& block = blocks_[i];
      const bool hot = block.density() > 2 * mean, cold = block.density() < mean;
      own.push_back(hot && block.width > 1          ? block.width / 2
                    : cold && block.width < kWidest ? block.width * 2
                                                    : block.width);
    }
    for (const Block& block : blocks_) ++counts[block.owner];
    std::partial_sum(counts.begin(), counts.end() - 1, places.begin() + 1);
    std::vector<int> all(blocks_.size());
    MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_INT, all.data(), counts.data(),
                   places.data(), MPI_INT, MPI_COMM_WORLD);
    return all;
  }

  // Whether the block and the three after it are the quarters of one, and all to be coarsened.
  static bool coarsens(const std::vector<Block>& blocks, const std::vector<int>& widths,
                       std::size_t i) {
    const int width = blocks[i].width;
    if (blocks[i].x % (2 * width) != 0 || blocks[i].y % (2 * width) != 0) return false;
    for (std::size_t part = i; part < i + 4; ++part)
      if (part >= blocks.size() || blocks[part].width != width || widths[part] != 2 * width ||
          blocks[part].x - blocks[i].x >= 2 * width || blocks[part].y - blocks[i].y >= 2 * width)
        return false;
    return true;
  }

  // A former block goes to each owner of blocks that have a part of it.
  void move(const std::vector<Block>& before, int step) {
    std::vector<int> coming;
    std::vector<Parcel> in(before.size()), out;
    out.reserve(4 * before.size());  // each moves to four owners at most
    std::vector<MPI_Request> receives, sends;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const Block& block = before[i];
      std::set<int> owners;
      for (int y = block.y; y < block.y + block.width; ++y)
        for (int x = block.x; x < block.x + block.width; ++x)
          owners.insert(blocks_[at_[cell(x, y)]].owner);
      for (const int owner : owners) {
        if (owner != run_.rank && block.owner == run_.rank) {
          out.push_back(parcel(block, step));
          MPI_Isend(out.back().data(), 5, MPI_INT64_T, owner, static_cast<int>(i), MPI_COMM_WORLD,
                    &sends.emplace_back());
        } else if (owner == run_.rank && block.owner == run_.rank) {
          join(block);
        } else if (owner == run_.rank) {
          MPI_Irecv(in[coming.size()].data(), 5, MPI_INT64_T, block.owner, static_cast<int>(i),
                    MPI_COMM_WORLD, &receives.emplace_back());
          coming.push_back(static_cast<int>(i));
        }
      }
    }
    as_they_come(receives,
                 [&](int which) { join(received(before[coming[which]], in[which], step)); });
    MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
  }

  // Gives the heat of a former block to those of this rank's that have a part of it.
  void join(const Block& former) {
    for (const int i : mine_) {
      Block& block = blocks_[i];
      if (block.has(former)) {
        block.heat += former.heat;
      } else if (former.has(block)) {
        const bool first = block.x == former.x && block.y == former.y;
        block.heat += former.heat / 4 + (first ? former.heat % 4 : 0);
      }
    }
  }

  example::Run& run_;
  int cells_;            // along the edge of the domain
  std::vector<int> at_;  // which block has a cell
  std::vector<Block> blocks_;
  std::vector<int> mine_;
  std::int64_t total_ = 0;  // heat
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("adaptive", argc, argv, {.iterations = 40, .size = 4});
  Mesh mesh(run);
  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    mesh.flow(step);
    if (step % 2 == 1) mesh.adapt(step);
    example::end_of_timestep();
  }
  run.stop();
  const int status = run.finish();
  MPI_Finalize();
  return status;
}
