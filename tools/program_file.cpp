// SPDX-License-Identifier: BSD-3-Clause
#include "program_file.h"

#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/foreign_file.h"
#include "base/foreign_lines.h"
#include "runtimes.h"

namespace chameleon::tools {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#elif defined(__powerpc64__)
constexpr int kMachine = EM_PPC64;
#elif defined(__riscv)
constexpr int kMachine = EM_RISCV;
#else
constexpr int kMachine = EM_NONE;
#endif

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// $ORIGIN of the loader: the folder of the file that names it.
std::string with_origin(std::string folder, const std::string& file) {
  std::error_code error;
  const std::string origin = fs::weakly_canonical(file, error).parent_path().string();
  for (const char* name : {"${ORIGIN}", "$ORIGIN"})
    for (auto at = folder.find(name); at != std::string::npos; at = folder.find(name))
      folder.replace(at, std::strlen(name), origin);
  return folder;
}

std::string text_at(Elf* elf, std::size_t section, std::size_t offset) {
  const char* text = elf_strptr(elf, section, offset);
  return text == nullptr ? std::string() : std::string(text);
}

void read_dynamic(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, const std::string& path,
                  ElfFile& file) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const auto entries = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < entries; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, i, &entry) == nullptr || entry.d_tag == DT_NULL) return;
    const auto text = [&] { return text_at(elf, header.sh_link, entry.d_un.d_val); };
    if (entry.d_tag == DT_NEEDED) file.needed.push_back(text());
    if (entry.d_tag == DT_SONAME) file.soname = text();
    if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
      for (const std::string& folder : split(text(), ':'))
        (entry.d_tag == DT_RPATH ? file.rpath : file.runpath).push_back(with_origin(folder, path));
  }
}

void read_symbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ElfFile& file) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const auto entries = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < entries; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) return;
    if (symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr) continue;
    if (std::strcmp(name, "PMPI_Init") == 0) file.defines_mpi = true;
    if (starts_with(name, "_ZN9chameleon6Tracer")) file.defines_chameleon = true;
  }
}

Result<ElfFile> parse_elf(Elf* elf, const std::string& path) {
  GElf_Ehdr header;
  if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr)
    return Error{ErrorKind::kCorrupt, path + ": not an ELF file"};
  ElfFile file;
  file.is_64 = gelf_getclass(elf) == ELFCLASS64;
  file.native = header.e_machine == kMachine && file.is_64 == (sizeof(void*) == 8);
  file.is_program_or_library = header.e_type == ET_EXEC || header.e_type == ET_DYN;
  std::size_t segments = 0;
  elf_getphdrnum(elf, &segments);
  for (std::size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) break;
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > 4096) continue;
    std::size_t size = 0;
    const char* raw = elf_rawfile(elf, &size);
    if (raw == nullptr || segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
      continue;
    file.interpreter.assign(raw + segment.p_offset,
                            strnlen(raw + segment.p_offset, segment.p_filesz));
  }
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr part;
    if (gelf_getshdr(section, &part) == nullptr) continue;
    if (part.sh_type == SHT_DYNAMIC) read_dynamic(elf, section, part, path, file);
    if (part.sh_type == SHT_SYMTAB || part.sh_type == SHT_DYNSYM)
      read_symbols(elf, section, part, file);
  }
  // A static program may be position-independent, and have a dynamic section too.
  file.dynamic = !file.interpreter.empty() || !file.needed.empty();
  return file;
}

/// The folders the loader looks in when nothing else says where.
std::vector<std::string> system_folders() {
  std::vector<std::string> folders;
  std::vector<std::string> files = {"/etc/ld.so.conf"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/etc/ld.so.conf.d", error))
    files.push_back(entry.path().string());
  std::sort(files.begin() + 1, files.end());
  for (const std::string& name : files) {
    std::ifstream lines(name);
    for (std::string line; std::getline(lines, line);)
      if (starts_with(line, "/")) folders.push_back(line);
  }
  for (const char* folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    folders.emplace_back(folder);
  return folders;
}

class Loader {
 public:
  Loader() : folders_(system_folders()) {
    if (const char* path = std::getenv("LD_LIBRARY_PATH")) user_ = split(path, ':');
  }

  /// The libraries of `program`, breadth first.
  std::vector<LoadedLibrary> libraries(const ElfFile& program) {
    std::vector<LoadedLibrary> found;
    std::set<std::string> known;
    std::vector<ElfFile> files = {program};
    for (std::size_t next = 0; next < files.size() && files.size() < kMostLibraries; ++next) {
      const ElfFile file = files[next];
      for (const std::string& name : file.needed) {
        if (!known.insert(name).second) continue;
        LoadedLibrary library{name, find(name, file, program)};
        if (!library.path.empty())
          if (Result<ElfFile> read = read_elf(library.path)) files.push_back(*read);
        found.push_back(std::move(library));
      }
    }
    return found;
  }

 private:
  static constexpr std::size_t kMostLibraries = 1000;

  std::string find(const std::string& name, const ElfFile& by, const ElfFile& program) const {
    if (name.find('/') != std::string::npos) return name;
    const std::vector<std::string> none;
    const auto rpath = [&](const ElfFile& file) {
      return file.runpath.empty() ? &file.rpath : &none;
    };
    for (const auto* folders : {rpath(by), rpath(program), &user_, &by.runpath, &folders_})
      for (const std::string& folder : *folders)
        if (const std::string path = folder + "/" + name; access(path.c_str(), R_OK) == 0)
          return path;
    return {};
  }

  std::vector<std::string> folders_, user_;
};

bool is_fortran_binding(const std::string& name) {
  return starts_with(name, "libmpichfort") || starts_with(name, "libmpifort") ||
         starts_with(name, "libmpi_mpifh");
}

/// Chooses the runtime for the program's MPI; false if there is none.
bool choose_runtime(const std::string& tracer, Diagnosis& diagnosis) {
  std::string known;
  const std::vector<Runtime> all = runtimes(tracer);
  for (const Runtime& runtime : all) {
    known += (known.empty() ? "" : ", ") + runtime.mpi_library;
    if (runtime.mpi_library != diagnosis.mpi_library) continue;
    diagnosis.tracer = runtime.path;
    // Whatever else runs in the job's environment has to find the library too.
    if (&runtime != &all.front()) diagnosis.mpi_preload = diagnosis.mpi_path;
    return true;
  }
  diagnosis.reason = "it is linked with " + diagnosis.mpi + " (" + diagnosis.mpi_library +
                     "); this Chameleon is for " + known;
  return false;
}

void diagnose_script(std::istream& file, Diagnosis& diagnosis) {
  std::string line;
  std::getline(file, line);
  diagnosis.kind = "script";
  diagnosis.interpreter = line.substr(0, 200);
  diagnosis.traceable = diagnosis.preload = true;
  diagnosis.reason = "a script: MPI programs that it starts or loads are traced, if they can be";
  diagnosis.advice = "ask about the program itself: chameleon doctor PROGRAM";
}

void diagnose_dynamic(const ElfFile& elf, const std::string& tracer, Diagnosis& diagnosis) {
  bool tracer_seen = false;
  for (const LoadedLibrary& library : Loader().libraries(elf)) {
    if (library.path.empty()) diagnosis.missing.push_back(library);
    if (starts_with(library.name, "libchameleon.so")) tracer_seen = true;
    if (is_fortran_binding(library.name)) diagnosis.fortran = library.name;
    if (const char* mpi = mpi_of(library.name); mpi != nullptr && diagnosis.mpi.empty()) {
      diagnosis.mpi = mpi;
      diagnosis.mpi_library = library.name;
      diagnosis.mpi_path = library.path;
      diagnosis.chameleon_first = tracer_seen;
    }
  }
  diagnosis.chameleon_linked = tracer_seen;
  if (diagnosis.mpi.empty()) {
    diagnosis.linking = Linking::kNone;
    diagnosis.preload = true;
    diagnosis.reason = "it is not linked with MPI";
    diagnosis.advice =
        "if it loads MPI while it runs (an interpreter, a plug-in), start it with "
        "chameleon run: that is traced too";
    return;
  }
  diagnosis.linking = Linking::kDynamic;
  if (!choose_runtime(tracer, diagnosis)) {
    diagnosis.advice =
        "build the program with the MPI of Chameleon (mpicc.mpich), or Chameleon "
        "with the MPI of the program";
    return;
  }
  diagnosis.traceable = diagnosis.preload = true;
  if (!diagnosis.chameleon_linked) {
    diagnosis.reason = "it is linked dynamically with " + diagnosis.mpi;
    diagnosis.advice = "chameleon run -n RANKS -- " + diagnosis.program;
  } else if (diagnosis.chameleon_first) {
    diagnosis.reason = "libchameleon is linked in, before the MPI library";
    diagnosis.advice = "start it as ever: every run is traced (CHAMELEON_ENABLE=0: none)";
  } else {
    diagnosis.reason =
        "libchameleon is linked in, but after the MPI library, where it sees nothing";
    diagnosis.advice = "start it with chameleon run, or link with -lchameleon before -lmpich";
  }
}

void diagnose_elf(const ElfFile& elf, const std::string& tracer, Diagnosis& diagnosis) {
  diagnosis.kind = "elf";
  diagnosis.interpreter = elf.interpreter;
  if (!elf.native) {
    diagnosis.reason = elf.is_64 ? "it is for another machine" : "it is a 32-bit program";
    diagnosis.advice = "build it for this machine";
  } else if (!elf.is_program_or_library) {
    diagnosis.reason = "it is an object file, not a program";
    diagnosis.advice = "link it";
  } else if (elf.defines_mpi) {
    diagnosis.linking = Linking::kStatic;
    diagnosis.mpi = "an MPI linked statically";
    diagnosis.chameleon_linked = diagnosis.chameleon_first = elf.defines_chameleon;
    diagnosis.traceable = elf.defines_chameleon;
    diagnosis.reason = elf.defines_chameleon ? "Chameleon and MPI are linked in statically"
                                             : "MPI is linked in statically, without Chameleon";
    diagnosis.advice = elf.defines_chameleon
                           ? "start it as ever: every run is traced (CHAMELEON_ENABLE=0: none)"
                           : "link it with the shared MPI library (without -static)";
  } else if (!elf.dynamic) {
    diagnosis.linking = Linking::kNone;
    diagnosis.reason = "it is static and has no MPI in it";
    diagnosis.advice = "nothing: there is nothing to trace";
  } else {
    diagnose_dynamic(elf, tracer, diagnosis);
  }
}

}  // namespace

Result<ElfFile> read_elf(const std::string& path) {
  elf_version(EV_CURRENT);
  const Result<OpenFile> opened = open_foreign(path);
  if (!opened) return opened.error();
  Elf* elf = elf_begin(opened->fd(), ELF_C_READ, nullptr);
  Result<ElfFile> file = elf == nullptr ? Error{ErrorKind::kCorrupt, path + ": not an ELF file"}
                                        : parse_elf(elf, path);
  if (elf != nullptr) elf_end(elf);
  return file;
}

std::string find_program(const std::string& program) {
  std::error_code error;
  if (program.find('/') != std::string::npos)
    return fs::exists(program, error) ? program : std::string();
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const std::string candidate = folder + "/" + program;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate, error))
      return candidate;
  }
  return {};
}

Result<Diagnosis> diagnose(const std::string& program, const std::string& tracer) {
  Diagnosis diagnosis;
  diagnosis.tracer = tracer;
  diagnosis.program = find_program(program);
  std::error_code error;
  // `doctor app` means the file here, if there is no such command.
  if (diagnosis.program.empty() && fs::exists(program, error)) diagnosis.program = program;
  if (diagnosis.program.empty()) return Error{ErrorKind::kSystem, program + ": no such program"};
  const std::string& path = diagnosis.program;
  if (fs::is_directory(path, error)) return Error{ErrorKind::kSystem, path + ": is a folder"};
  ForeignLines file(path);
  std::array<char, 4> magic{};
  if (!file || (file.read(magic.data(), magic.size()), file.bad()))
    return Error{ErrorKind::kSystem, path + ": " + std::strerror(errno)};
  file.clear();
  file.seekg(0);

  if (magic[0] == '#' && magic[1] == '!') {
    diagnose_script(file, diagnosis);
  } else if (std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0) {
    Result<ElfFile> elf = read_elf(path);
    if (!elf) return elf.error();
    diagnose_elf(*elf, tracer, diagnosis);
  } else {
    diagnosis.kind = "other";
    diagnosis.preload = true;
    diagnosis.reason = "it is neither an ELF program nor a script";
    diagnosis.advice = "name the program itself";
  }
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0 && (facts.st_mode & (S_ISUID | S_ISGID)) != 0 &&
      !diagnosis.chameleon_first) {
    diagnosis.traceable = diagnosis.preload = false;
    diagnosis.reason = "it is set-user-ID or set-group-ID, and the system refuses to preload";
    diagnosis.advice = "start a copy without these bits";
  }
  if (access(path.c_str(), X_OK) != 0) {
    diagnosis.executable = diagnosis.traceable = diagnosis.preload = false;
    diagnosis.reason = "it is not executable";
    diagnosis.advice = "chmod +x " + path;
  }
  return diagnosis;
}

void diagnose_module(const std::string& module, const std::string& owner, const std::string& tracer,
                     Diagnosis& diagnosis) {
  const Result<ElfFile> elf = read_elf(module);
  if (!elf) return;
  Diagnosis found;
  for (const LoadedLibrary& library : Loader().libraries(*elf)) {
    const char* const mpi = mpi_of(library.name);
    if (mpi == nullptr) continue;
    found.mpi = mpi;
    found.mpi_library = library.name;
    found.mpi_path = library.path;
    break;
  }
  if (found.mpi.empty()) return;
  const bool known = choose_runtime(tracer, found);
  diagnosis.mpi = found.mpi;
  diagnosis.mpi_library = found.mpi_library;
  diagnosis.mpi_path = found.mpi_path;
  diagnosis.tracer = known ? found.tracer : diagnosis.tracer;
  diagnosis.mpi_preload = found.mpi_preload;
  diagnosis.traceable = diagnosis.preload = known;
  if (known) diagnosis.linking = Linking::kDynamic;
  diagnosis.reason = "it is " + owner + " is linked with " + found.mpi;
  if (known) {
    diagnosis.advice = "chameleon run -n RANKS -- " + diagnosis.program + " SCRIPT";
  } else {
    diagnosis.reason += " (" + found.mpi_library + "), for which this Chameleon has no library";
    diagnosis.advice = "use an mpi4py of another MPI, or Chameleon with this one";
  }
}

}  // namespace chameleon::tools
