// SPDX-License-Identifier: BSD-3-Clause
#include "record/raw_file.h"

#include <unistd.h>

#include <memory>
#include <new>

#include "base/float_environment.h"
#include "base/new_file.h"
#include "base/own_descriptor.h"
#include "base/size_limit.h"
#include "base/standard_error.h"
#include "mpi/constants.h"
#include "mpi/handles.h"

namespace chameleon::record {
namespace {

/// A file whose writes cannot end the process, nor go to a file of the program's.
std::FILE* open_for_records(OpenFile& created) {
  auto file = std::make_unique<OwnDescriptor>(created.take());
  cookie_io_functions_t functions{};
  functions.write = [](void* cookie, const char* data, std::size_t size) -> ssize_t {
    const NoSizeSignal guard;
    const ssize_t done = ::write(static_cast<OwnDescriptor*>(cookie)->get(), data, size);
    return done < 0 ? 0 : done;
  };
  functions.close = [](void* cookie) {
    const std::unique_ptr<OwnDescriptor> closing(static_cast<OwnDescriptor*>(cookie));
    return closing->close() ? 0 : -1;
  };
  std::FILE* const made = ::fopencookie(file.get(), "w", functions);
  if (made == nullptr) throw std::bad_alloc();
  static_cast<void>(file.release());
  return made;
}

}  // namespace

std::FILE* open_raw_file(const std::string& folder, int rank, int size, std::uint32_t thread) {
  const std::string of = std::to_string(rank) + (thread == 0 ? "" : "." + std::to_string(thread));
  const std::string path = folder + "/rank." + of + ".raw";
  Result<OpenFile> created = create_in_place(path);
  if (!created) {
    write_to_standard_error("chameleon: raw records: " + created.error().message +
                            "; set CHAMELEON_RAW to a folder that exists\n");
    return nullptr;
  }
  std::FILE* const file = open_for_records(*created);
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
               MPI_ANY_SOURCE, MPI_PROC_NULL, kRootOfIntercommunicator, static_cast<int>(kAnyTag),
               MPI_UNDEFINED);
  std::fflush(file);  // a killed job leaves a whole head
  return file;
}

void write_raw_times(TimeAccount& times, const Stream& stream, std::uint64_t path,
                     std::uint64_t compute, std::uint64_t communication) {
  if (stream.raw == nullptr) return;
  const UsualFloats floats;
  times.ns_per_tick();
  std::fprintf(stream.raw, "# spent %llu %llu %016llx\n",
               static_cast<unsigned long long>(times.ns(compute)),
               static_cast<unsigned long long>(times.ns(communication)),
               static_cast<unsigned long long>(path));
}

}  // namespace chameleon::record
