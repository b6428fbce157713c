// SPDX-License-Identifier: BSD-3-Clause
// A parallel bucket sort, as in IS: bucket sizes by Allreduce, key counts by Alltoall, keys by
// Alltoallv; then each rank but the last tells the next one its largest key. The first rank only
// sends, the last only receives: three behaviours from three ranks on.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "example.h"

namespace {

constexpr int kBuckets = 1024;
constexpr int kBucketBits = 10;
constexpr int kKeyBits = 20;

std::vector<int> make_keys(int n, int rank, int step) {
  std::uint64_t state = 0x9e3779b97f4a7c15u * (std::uint64_t(rank) * 1000003u + step + 1);
  std::vector<int> keys(n);
  for (int& key : keys) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int a = int(state >> 44);
    state = state * 6364136223846793005u + 1442695040888963407u;
    key = (a + int(state >> 44)) / 2;  // heavier in the middle, so that buckets differ
  }
  return keys;
}

int bucket_of(int key) { return key >> (kKeyBits - kBucketBits); }

// The rank of each bucket: neighbouring buckets together, about as many keys for every rank.
std::vector<int> assign_buckets(const std::vector<int>& sizes, int ranks) {
  const long long total = std::accumulate(sizes.begin(), sizes.end(), 0LL);
  std::vector<int> rank_of(kBuckets);
  long long before = 0;
  for (int b = 0; b < kBuckets; ++b) {
    rank_of[b] = total > 0 ? static_cast<int>(before * ranks / total) : 0;
    rank_of[b] = std::min(rank_of[b], ranks - 1);
    before += sizes[b];
  }
  return rank_of;
}

std::vector<int> offsets(const std::vector<int>& counts) {
  std::vector<int> result(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), result.begin(), 0);
  return result;
}

// All keys of all ranks, sorted across ranks, those of this rank.
std::vector<int> sort_keys(std::vector<int> keys, int ranks) {
  std::vector<int> mine(kBuckets);
  std::vector<int> sizes(kBuckets);
  for (int key : keys) ++mine[bucket_of(key)];
  MPI_Allreduce(mine.data(), sizes.data(), kBuckets, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const std::vector<int> rank_of = assign_buckets(sizes, ranks);

  std::vector<int> out(ranks);
  std::vector<int> in(ranks);
  for (int b = 0; b < kBuckets; ++b) out[rank_of[b]] += mine[b];
  MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, MPI_COMM_WORLD);

  // Ranks take ascending buckets, so sorted keys are already in the order of their ranks.
  std::sort(keys.begin(), keys.end());
  std::vector<int> taken(std::accumulate(in.begin(), in.end(), 0));
  MPI_Alltoallv(keys.data(), out.data(), offsets(out).data(), MPI_INT, taken.data(), in.data(),
                offsets(in).data(), MPI_INT, MPI_COMM_WORLD);
  std::sort(taken.begin(), taken.end());
  return taken;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  example::Run run("bucketsort", argc, argv, {.iterations = 10, .size = 4096});
  const bool first = run.rank == 0;
  const bool last = run.rank + 1 == run.ranks;
  const std::vector<double> numbers(run.options.size, 0.5);

  long long sums[2] = {0, 0};  // of the keys made and of the keys sorted
  long long counts[2] = {0, 0};
  run.start();
  for (int step = 0; step < run.options.iterations; ++step) {
    const std::vector<int> keys = make_keys(run.options.size, run.rank, step);
    const std::vector<int> sorted = sort_keys(keys, run.ranks);
    run.compute(numbers);
    for (int key : keys) sums[0] += key;
    for (int key : sorted) sums[1] += key;
    counts[0] += keys.size();
    counts[1] += sorted.size();

    int below = -1;
    const int largest = sorted.empty() ? -1 : sorted.back();
    MPI_Request request = MPI_REQUEST_NULL;
    if (!first) MPI_Irecv(&below, 1, MPI_INT, run.rank - 1, 1, MPI_COMM_WORLD, &request);
    if (!last) MPI_Send(&largest, 1, MPI_INT, run.rank + 1, 1, MPI_COMM_WORLD);
    if (!first) MPI_Wait(&request, MPI_STATUS_IGNORE);
    run.check(sorted.empty() || below <= sorted.front());
    example::end_of_timestep();
  }
  run.stop();

  long long totals[4] = {sums[0], sums[1], counts[0], counts[1]};
  MPI_Allreduce(MPI_IN_PLACE, totals, 4, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  run.check(totals[0] == totals[1] && totals[2] == totals[3]);

  const int status = run.finish();
  MPI_Finalize();
  return status;
}
