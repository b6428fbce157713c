// SPDX-License-Identifier: BSD-3-Clause
#include "record/raw_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/size_limit.h"
#include "mpi/handles.h"

namespace chameleon::record {
namespace {

/// fopen(path, "w") whose writes cannot end the process.
std::FILE* open_for_records(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return nullptr;
  cookie_io_functions_t functions{};
  functions.write = [](void* cookie, const char* data, std::size_t size) -> ssize_t {
    const NoSizeSignal guard;
    const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(cookie));
    const ssize_t done = ::write(file, data, size);
    return done < 0 ? 0 : done;
  };
  functions.close = [](void* cookie) {
    return ::close(static_cast<int>(reinterpret_cast<std::intptr_t>(cookie)));
  };
  std::FILE* const made =
      ::fopencookie(reinterpret_cast<void*>(static_cast<std::intptr_t>(file)), "w", functions);
  if (made != nullptr) return made;
  ::close(file);
  throw std::bad_alloc();
}

}  // namespace

std::FILE* open_raw_file(const std::string& folder, int rank, int size, std::uint32_t thread) {
  const std::string of = std::to_string(rank) + (thread == 0 ? "" : "." + std::to_string(thread));
  const std::string path = folder + "/rank." + of + ".raw";
  std::FILE* const file = open_for_records(path);
  if (file == nullptr) {
    std::fprintf(stderr,
                 "chameleon: %s: cannot write raw records: %s; set CHAMELEON_RAW to a "
                 "folder that exists\n",
                 path.c_str(), std::strerror(errno));
    return nullptr;
  }
  std::fprintf(file, "# chameleon raw 1\n# rank %d of %d\n", rank, size);
  if (thread != 0) std::fprintf(file, "# thread %u\n", thread);
  for (const PredefinedHandle& object : predefined_handles()) {
    int bytes = 0;
    if (object.kind == Kind::kDatatype && object.id != -1)
      PMPI_Type_size(handle_of<MPI_Datatype>(object.handle), &bytes);
    std::fprintf(file, "# predefined %s %s %lld %d\n", kind_name(object.kind), object.name,
                 static_cast<long long>(object.handle), bytes);
  }
  std::fprintf(file,
               "# constant MPI_ANY_SOURCE %d\n# constant MPI_PROC_NULL %d\n"
               "# constant MPI_ROOT %d\n# constant MPI_ANY_TAG %d\n"
               "# constant MPI_UNDEFINED %d\n",
               MPI_ANY_SOURCE, MPI_PROC_NULL, kRootOfIntercommunicator, MPI_ANY_TAG, MPI_UNDEFINED);
  std::fflush(file);  // a killed job leaves a whole head
  return file;
}

void write_raw_times(TimeAccount& times, const Stream& stream, std::uint64_t path,
                     std::uint64_t compute, std::uint64_t communication) {
  if (stream.raw == nullptr) return;
  times.ns_per_tick();
  std::fprintf(stream.raw, "# spent %llu %llu %016llx\n",
               static_cast<unsigned long long>(times.ns(compute)),
               static_cast<unsigned long long>(times.ns(communication)),
               static_cast<unsigned long long>(path));
}

}  // namespace chameleon::record
