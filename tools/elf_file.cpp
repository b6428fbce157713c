// SPDX-License-Identifier: BSD-3-Clause
#include "elf_file.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/foreign_file.h"
#include "base/foreign_lines.h"

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
      for (const std::string& folder : split(text(), ":"))
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
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr) continue;
    const bool imported = symbol.st_shndx == SHN_UNDEF;
    if (header.sh_type == SHT_DYNSYM && starts_with(name, "MPI_") &&
        GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
      (imported ? file.mpi_imports : file.mpi_exports).emplace_back(name);
    if (imported) continue;
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
    ForeignLines lines(name);
    for (std::string line; std::getline(lines, line);)
      if (starts_with(line, "/")) folders.push_back(line);
  }
  for (const char* folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    folders.emplace_back(folder);
  return folders;
}

class Loader {
 public:
  explicit Loader(const std::string& user_path)
      : folders_(system_folders()), user_(split(user_path, ":;")) {}

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

std::vector<LoadedLibrary> loaded_libraries(const ElfFile& program,
                                            const std::vector<std::string>& settings) {
  return Loader(variable("LD_LIBRARY_PATH", settings)).libraries(program);
}

std::string variable(const std::string& name, const std::vector<std::string>& settings) {
  for (auto text = settings.rbegin(); text != settings.rend(); ++text)
    if (text->size() > name.size() && (*text)[name.size()] == '=' && text->rfind(name, 0) == 0)
      return text->substr(name.size() + 1);
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::vector<std::string> split(const std::string& text, std::string_view separators) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string find_program(const std::string& program, const std::vector<std::string>& settings) {
  std::error_code error;
  if (program.find('/') != std::string::npos)
    return fs::exists(program, error) ? program : std::string();
  const std::string path = variable("PATH", settings);
  for (const std::string& folder : split(path.empty() ? "/usr/bin:/bin" : path, ":")) {
    const std::string candidate = folder + "/" + program;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate, error))
      return candidate;
  }
  return {};
}

}  // namespace chameleon::tools
