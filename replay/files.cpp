// SPDX-License-Identifier: BSD-3-Clause
#include "replay/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "base/hash.h"

namespace chameleon::replay {
namespace {

void create(const std::string& path) {
  const int made = open(path.c_str(), O_CREAT | O_RDWR, 0600);
  if (made >= 0) close(made);
}

/// Grows the file by a byte at its new end: unlike a truncate, this never makes shorter what
/// another rank made longer meanwhile.
void grow(const std::string& path, MPI_Offset bytes) {
  const int file = open(path.c_str(), O_CREAT | O_WRONLY, 0600);
  if (file < 0) return;
  const char zero = 0;
  if (lseek(file, 0, SEEK_END) < bytes) {
    const ssize_t written = pwrite(file, &zero, 1, bytes - 1);
    (void)written;  // the read then says what it found
  }
  close(file);
}

}  // namespace

std::string Files::path_of(const std::string& name) const {
  // ROMIO takes a file system in front: "ufs:data".
  const std::size_t colon = name.find(':');
  const std::string plain = colon == std::string::npos || colon < 2 ? name : name.substr(colon + 1);
  std::string last = plain.substr(plain.rfind('/') + 1);
  if (last.size() > 100) last.resize(100);
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx.",
                static_cast<unsigned long long>(hash_bytes(plain.data(), plain.size())));
  return folder_ + "/" + hash + last;
}

void Files::prepare_open(const std::string& path, int mode, bool first) const {
  if ((mode & MPI_MODE_CREATE) == 0) create(path);
  if ((mode & MPI_MODE_EXCL) != 0 && first) unlink(path.c_str());
}

void Files::prepare_delete(const std::string& path) const { create(path); }

void Files::opened(std::int64_t id, MPI_File file, std::string path, int rank) {
  PMPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  files_[id] = {};
  files_[id].path = std::move(path);
  files_[id].rank = rank;
}

void Files::viewed(std::int64_t id, std::int64_t etype_bytes) {
  if (etype_bytes > 0) files_[id].etype_bytes = etype_bytes;
}

void Files::prepare_read(std::int64_t id, MPI_File file, From from, MPI_Offset offset,
                         std::int64_t bytes) const {
  const auto found = files_.find(id);
  if (found == files_.end() || bytes <= 0) return;
  const std::int64_t unit = found->second.etype_bytes;
  MPI_Offset size = 0;
  if (PMPI_File_get_size(file, &size) != MPI_SUCCESS) return;
  if (from == From::kEnd) {
    if (size < bytes * unit) grow(found->second.path, bytes * unit);
    return;
  }
  const MPI_Offset elements = (bytes + unit - 1) / unit;
  MPI_Offset at = offset;
  if (from == From::kIndividual) PMPI_File_get_position(file, &at);
  if (from == From::kShared || from == From::kOrdered) PMPI_File_get_position_shared(file, &at);
  if (from == From::kOrdered) at += elements * found->second.rank;
  MPI_Offset last = 0;
  if (PMPI_File_get_byte_offset(file, at + elements - 1, &last) != MPI_SUCCESS) return;
  if (size < last + unit) grow(found->second.path, last + unit);
}

void Files::begun(std::int64_t id, std::vector<Pool::Block> buffers) {
  files_[id].split = std::move(buffers);
}

void* Files::split_buffer(std::int64_t id) {
  const auto found = files_.find(id);
  return found == files_.end() || found->second.split.empty() ? nullptr
                                                              : found->second.split.front().data();
}

}  // namespace chameleon::replay
