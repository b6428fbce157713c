// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "elf_file.h"

namespace chameleon::tools {
namespace fs = std::filesystem;

std::string mpi_of_file(const std::string& path) {
  if (Result<ElfFile> file = read_elf(path))
    for (const std::string& name : file->needed)
      if (mpi_of(name) != nullptr) return name;
  return {};
}

std::string family_of(const std::string& library) {
  for (const char* prefix : {"libmpi.so.40", "libmpi.so.20"})
    if (library.rfind(prefix, 0) == 0) return "openmpi";
  if (library.rfind("libmpi_abi.so", 0) == 0) return "abi";
  for (const char* prefix : {"libmpich.so", "libmpi.so.12", "libmpi_cray.so"})
    if (library.rfind(prefix, 0) == 0) return "mpich";
  return {};
}

const char* mpi_of(const std::string& library) {
  struct Known {
    const char* prefix;
    const char* mpi;
  };
  constexpr std::array kKnown = {
      Known{"libmpich.so", "MPICH"},
      Known{"libmpi.so.40", "Open MPI"},
      Known{"libmpi.so.20", "Open MPI"},
      Known{"libmpi.so.12", "an MPI of the MPICH ABI"},
      Known{"libmpi_abi.so", "an MPI of the standard ABI"},
      Known{"libmpi_cray.so", "Cray MPICH"},
      Known{"libmpi_gnu", "Cray MPICH"},
      Known{"libmpi.so", "an unknown MPI"},
  };
  for (const Known& known : kKnown)
    if (library.rfind(known.prefix, 0) == 0) return known.mpi;
  return nullptr;
}

std::vector<Runtime> runtimes(const std::string& tracer) {
  const std::string mpi = tracer.empty() ? std::string() : mpi_of_file(tracer);
  std::vector<Runtime> found = {{tracer, mpi.empty() ? "libmpich.so.12" : mpi}};
  if (tracer.empty()) return found;
  std::vector<std::string> beside;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(tracer).parent_path(), error))
    if (const std::string name = entry.path().filename().string();
        name.rfind("libchameleon-", 0) == 0 && entry.path().extension() == ".so")
      beside.push_back(entry.path().string());
  std::sort(beside.begin(), beside.end());
  for (const std::string& path : beside)
    if (std::string other = mpi_of_file(path); !other.empty()) found.push_back({path, other});
  return found;
}

}  // namespace chameleon::tools
