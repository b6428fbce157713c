// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/symbolizer.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>

#include "base/foreign_file.h"
#include "base/plain_text.h"
#include "base/rust_names.h"

namespace chameleon::analysis {
namespace {

constexpr const char* kDebugFolder = "/usr/lib/debug/.build-id/";

/// Debug information is read by a library for which files are not hostile, and it names further
/// files. So a module is read only if it comes from the system or from the user: of their own or
/// the system's files, or in the current folder.
bool is_trusted(const OpenFile& file) {
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) return false;
  if (status.st_uid == 0 || status.st_uid == ::geteuid()) return true;
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  const std::string path = file.real_path();
  return !error && here != "/" && path.size() > here.size() && path.starts_with(here) &&
         path[here.size()] == '/';
}

/// The file that a trace names as a module, if it may be read and is ELF.
OpenFile module_file(const std::string& path) {
  Result<OpenFile> file = open_foreign(path);
  char magic[SELFMAG] = "";
  if (!file || ::pread(file->fd(), magic, sizeof magic, 0) != sizeof magic ||
      std::memcmp(magic, ELFMAG, SELFMAG) != 0 || !is_trusted(*file))
    return OpenFile();
  return std::move(*file);
}

/// elfutils asks for separate debug information here. Its own way would open whatever the module
/// names, and ask servers.
int separate_debug_file(Dwfl_Module* module, void**, const char*, Dwarf_Addr, const char*,
                        const char*, GElf_Word, char** name) {
  const unsigned char* bits = nullptr;
  GElf_Addr where = 0;
  const int size = dwfl_module_build_id(module, &bits, &where);
  if (size < 2) return -1;
  const std::string id = to_hex({bits, static_cast<std::size_t>(size)});
  const std::string path = kDebugFolder + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  OpenFile file = module_file(path);
  if (file.fd() >= 0) *name = ::strdup(path.c_str());
  return file.release();
}

std::string demangled(const char* name) {
  if (std::optional<std::string> rust = rust_name(name)) return *std::move(rust);
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string with_offset(const Module& module, std::uint64_t offset) {
  char text[32];
  std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(offset));
  return (module.path.empty() ? "[unnamed module]" : base_name(module.path)) + text;
}

/// A function's demangled name; template arguments and scopes are only in its
/// linkage name.
std::string function_name(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (const char* name = dwarf_formstring(dwarf_attr_integrate(die, kind, &attribute)))
      return demangled(name);
  const char* name = dwarf_diename(die);
  return name != nullptr ? name : "";
}

/// The compiler may name a file from the folder it was called in.
std::string in_folder(const char* folder, const char* file) {
  if (folder == nullptr || *file == '/') return file;
  return (std::filesystem::path(folder) / file).lexically_normal().string();
}

/// The line on which a function is declared; 0 if that is not known.
int declared_line(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  const bool known =
      dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_line, &attribute), &line) == 0;
  return known ? static_cast<int>(line) : 0;
}

/// The special frames of call_path.h, and frames of modules not in the trace.
const char* special_name(const Frame& frame) {
  if (frame == kAnonymousFrame) return "[code without a file]";
  if (frame == kTruncatedFrame) return "[outer frames not kept]";
  if (frame == kAnyFrames) return "[any frames]";
  return "[unknown]";
}

/// Names in debug information are as foreign as those in a trace.
void make_printable(SourceLocation& location) {
  for (std::string* text :
       {&location.function, &location.file, &location.inlined_in, &location.outer_file})
    *text = plain_text(*text);
  for (InlinedCaller& caller : location.callers) {
    caller.function = plain_text(caller.function);
    caller.file = plain_text(caller.file);
  }
}

}  // namespace

/// The debug information of one module, or of none if no file fits.
class Symbolizer::DebugInfo {
 public:
  DebugInfo(const Module& module, std::uint64_t id) {
    if (open(module.path, module, id) || module.build_id_hex.size() < 3) return;
    // What else would be in these letters is part of a path.
    if (module.build_id_hex.find_first_not_of("0123456789abcdef") != std::string::npos) return;
    open(kDebugFolder + module.build_id_hex.substr(0, 2) + "/" + module.build_id_hex.substr(2) +
             ".debug",
         module, id);
  }
  ~DebugInfo() { close(); }
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  /// Fills what is known of the instruction at `offset` from the load base.
  void find(std::uint64_t offset, SourceLocation& location) {
    if (module_ == nullptr) return;
    GElf_Addr bias = 0;
    if (dwfl_module_getelf(module_, &bias) == nullptr) return;
    const Dwarf_Addr address = offset + bias;
    find_line(address, location);
    find_function(address, location);
    if (!location.function.empty()) return;
    GElf_Off into = 0;
    GElf_Sym symbol;
    const char* name =
        dwfl_module_addrinfo(module_, address, &into, &symbol, nullptr, nullptr, nullptr);
    // The nearest symbol before a static function of a stripped file is a lie.
    if (name != nullptr && into < symbol.st_size) location.function = demangled(name);
  }

 private:
  bool open(const std::string& path, const Module& module, std::uint64_t id) {
    OpenFile file = module_file(path);
    if (file.fd() < 0 || !is_traced_one(file, path, module, id)) return false;
    static char* no_path = nullptr;
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = separate_debug_file,
                                             .section_address = dwfl_offline_section_address,
                                             .debuginfo_path = &no_path};
    session_ = dwfl_begin(&callbacks);
    if (session_ == nullptr) return false;
    dwfl_report_begin(session_);
    module_ = dwfl_report_offline(session_, path.c_str(), path.c_str(), file.fd());
    if (module_ != nullptr) file.release();  // it is the library's now
    dwfl_report_end(session_, nullptr, nullptr);
    GElf_Addr bias = 0;
    if (module_ != nullptr && dwfl_module_getelf(module_, &bias) != nullptr) return true;
    close();
    return false;
  }

  /// Before anything else of it is looked at.
  static bool is_traced_one(const OpenFile& file, const std::string& path, const Module& module,
                            std::uint64_t id) {
    if (module.build_id_hex.empty()) return module_id_of_file(path) == id;
    elf_version(EV_CURRENT);
    Elf* const elf = elf_begin(file.fd(), ELF_C_READ_MMAP, nullptr);
    const void* bits = nullptr;
    const ssize_t size = elf == nullptr ? -1 : dwelf_elf_gnu_build_id(elf, &bits);
    const bool same = size > 0 && to_hex({static_cast<const std::uint8_t*>(bits),
                                          static_cast<std::size_t>(size)}) == module.build_id_hex;
    if (elf != nullptr) elf_end(elf);
    return same;
  }

  void close() {
    if (session_ != nullptr) dwfl_end(session_);
    session_ = nullptr;
    module_ = nullptr;
  }

  void find_line(Dwarf_Addr address, SourceLocation& location) {
    Dwfl_Line* line = dwfl_module_getsrc(module_, address);
    if (line == nullptr) return;
    const char* file = dwfl_lineinfo(line, nullptr, &location.line, nullptr, nullptr, nullptr);
    if (file != nullptr) location.file = in_folder(dwfl_line_comp_dir(line), file);
  }

  void find_function(Dwarf_Addr address, SourceLocation& location) {
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module_, address, &bias);
    if (unit == nullptr) return;
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(unit, address - bias, &scopes);
    for (Dwarf_Die& scope : std::span(scopes, count > 0 ? static_cast<std::size_t>(count) : 0)) {
      const int tag = dwarf_tag(&scope);
      if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
      location.function = function_name(&scope);
      location.begin = declared_line(&scope);
      if (tag == DW_TAG_inlined_subroutine) find_caller(&scope, location);
      break;
    }
    std::free(scopes);
  }

  /// The scopes above answer where an inlined function is defined; these,
  /// where it was inlined: each function up to the one that has a frame.
  static void find_caller(Dwarf_Die* inlined, SourceLocation& location) {
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(inlined, &scopes);
    Dwarf_Die* callee = inlined;
    for (int i = 1; i < count; ++i) {
      const int tag = dwarf_tag(&scopes[i]);
      if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
      location.callers.push_back(call_of(callee));
      location.callers.back().function = function_name(&scopes[i]);
      location.callers.back().begin = declared_line(&scopes[i]);
      callee = &scopes[i];
      if (tag == DW_TAG_subprogram) break;
    }
    std::free(scopes);
    if (location.callers.empty()) return;
    location.inlined_in = location.callers.back().function;
    location.outer_file = location.callers.back().file;
    location.outer_line = location.callers.back().line;
  }

  /// The line in the function around it that calls what was inlined.
  static InlinedCaller call_of(Dwarf_Die* inlined) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    Dwarf_Die unit;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_diecu(inlined, &unit, nullptr, nullptr) == nullptr ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0)
      return {};
    const char* const name = dwarf_filesrc(files, file, nullptr, nullptr);
    if (name == nullptr) return {};
    const char* const folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
    return {"", in_folder(folder, name), static_cast<int>(line), 0};
  }

  Dwfl* session_ = nullptr;
  Dwfl_Module* module_ = nullptr;
};

Symbolizer::Symbolizer() = default;
Symbolizer::~Symbolizer() = default;

const SourceLocation& Symbolizer::resolve(const Module& module, const Frame& frame) {
  const auto [entry, is_new] = known_.try_emplace({frame.module, frame.offset});
  SourceLocation& location = entry->second;
  if (!is_new) return location;
  if (frame.module == 0) {
    location.function = special_name(frame);
    return location;
  }
  location.module = base_name(module.path);
  auto& info = modules_[frame.module];
  if (info == nullptr) info = std::make_unique<DebugInfo>(module, frame.module);
  // A return address may already be on the next line, or in the next function.
  if (frame.offset != 0) info->find(frame.offset - 1, location);
  make_printable(location);
  if (location.function.empty()) location.function = with_offset(module, frame.offset);
  return location;
}

std::string to_string(const SourceLocation& location) {
  std::string text = location.function;
  if (!location.inlined_in.empty()) text += " [inlined in " + location.inlined_in + "]";
  if (!location.file.empty())
    text += " (" + location.file + ":" + std::to_string(location.line) + ")";
  else if (!location.module.empty())
    text += " (" + location.module + ")";
  return text;
}

}  // namespace chameleon::analysis
