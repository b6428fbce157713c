// SPDX-License-Identifier: BSD-3-Clause
#include "replay/windows.h"

#include <cstdio>
#include <utility>

namespace chameleon::replay {

void Windows::made(std::int64_t id, MPI_Win win, std::vector<Pool::Block> memory) {
  PMPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  windows_[id] = {};
  windows_[id].memory = std::move(memory);
}

void Windows::made_dynamic(std::int64_t id, MPI_Win win, MPI_Comm comm, std::uint64_t largest,
                           Pool& pool) {
  made(id, win, {});
  Window& window = windows_[id];
  window.dynamic = true;
  int size = 1;
  PMPI_Comm_size(comm, &size);
  PMPI_Allreduce(&largest, &window.room, 1, MPI_UINT64_T, MPI_MAX, comm);
  window.addresses.resize(static_cast<std::size_t>(size));
  MPI_Aint own = 0;
  if (window.room > 0) {
    Pool::Block block = pool.take(window.room);
    if (block.data() == nullptr ||
        PMPI_Win_attach(win, block.data(), static_cast<MPI_Aint>(window.room)) != MPI_SUCCESS) {
      std::fprintf(stderr, "replay: no memory for %llu bytes of a dynamic window\n",
                   static_cast<unsigned long long>(window.room));
      PMPI_Abort(MPI_COMM_WORLD, 1);
    } else {
      PMPI_Get_address(block.data(), &own);
      window.memory.push_back(std::move(block));
    }
  }
  PMPI_Allgather(&own, 1, MPI_AINT, window.addresses.data(), 1, MPI_AINT, comm);
}

void Windows::attached(std::int64_t id, std::vector<Pool::Block> memory) {
  windows_[id].attached.push_back(std::move(memory));
}

void* Windows::oldest(std::int64_t id) {
  const auto window = windows_.find(id);
  if (window == windows_.end() || window->second.attached.empty()) return nullptr;
  const std::vector<Pool::Block>& memory = window->second.attached.front();
  return memory.empty() ? nullptr : memory.front().data();
}

void Windows::detached(std::int64_t id) {
  const auto window = windows_.find(id);
  if (window != windows_.end() && !window->second.attached.empty())
    window->second.attached.pop_front();
}

void Windows::begun(std::int64_t id, int target, std::vector<Pool::Block> buffers) {
  windows_[id].in_use.emplace_back(target, std::move(buffers));
}

void Windows::completed(std::int64_t id, int target) {
  const auto window = windows_.find(id);
  if (window != windows_.end())
    std::erase_if(window->second.in_use,
                  [&](const auto& one) { return target < 0 || one.first == target; });
}

bool Windows::place(std::int64_t id, int target, std::int64_t low, std::int64_t high,
                    Word& displacement) const {
  const auto found = windows_.find(id);
  if (found == windows_.end() || !found->second.dynamic) return true;
  const Window& window = found->second;
  if (target < 0) return true;  // MPI_PROC_NULL
  const auto at = static_cast<std::size_t>(target);
  const std::int64_t span = high - low;
  if (span == 0) return true;  // nothing is touched
  if (at >= window.addresses.size() || window.addresses[at] == 0) return false;
  if (span < 0 || static_cast<std::uint64_t>(span) > window.room) return false;
  // Neighbours stay neighbours as far as there is room, and what is aligned stays so.
  const std::uint64_t free = window.room - static_cast<std::uint64_t>(span);
  const std::uint64_t lines = window.room / 64 * 64;
  std::uint64_t offset = lines == 0 ? 0 : static_cast<std::uint64_t>(displacement + low) % lines;
  if (offset > free) offset = free / 64 * 64;
  displacement = window.addresses[at] + static_cast<Word>(offset) - low;
  return true;
}

}  // namespace chameleon::replay
