// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/function_names.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/foreign_file.h"

namespace chameleon::callpath {
namespace {

/// A file that is read in parts.
class File {
 public:
  explicit File(const std::string& path) {
    if (Result<OpenFile> opened = open_foreign(path)) file_ = std::move(*opened);
  }

  /// `count` values from an offset on; none if the file does not have all of them.
  template <class T>
  std::vector<T> read(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size() || count > (size() - offset) / sizeof(T)) return {};
    std::vector<T> values(count);
    auto* to = reinterpret_cast<char*>(values.data());
    for (std::uint64_t left = count * sizeof(T); left > 0;) {
      const ssize_t got = ::pread(file_.fd(), to, left, static_cast<off_t>(offset));
      if (got <= 0) return {};
      to += got;
      offset += static_cast<std::uint64_t>(got);
      left -= static_cast<std::uint64_t>(got);
    }
    return values;
  }
  std::uint64_t size() const { return file_.size(); }

 private:
  OpenFile file_;
};

/// The section of a type, or null.
const ElfW(Shdr) * section(const std::vector<ElfW(Shdr)>& sections, std::uint32_t type) {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const ElfW(Shdr) & one) { return one.sh_type == type; });
  return found == sections.end() ? nullptr : &*found;
}

}  // namespace

FunctionNames::Symbols FunctionNames::read(const std::string& path) {
  Symbols symbols;
  const File file(path);
  const auto header = file.read<ElfW(Ehdr)>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      header[0].e_shentsize != sizeof(ElfW(Shdr)))
    return symbols;
  const auto sections = file.read<ElfW(Shdr)>(header[0].e_shoff, header[0].e_shnum);
  const ElfW(Shdr)* table = section(sections, SHT_SYMTAB);
  if (table == nullptr) table = section(sections, SHT_DYNSYM);
  if (table == nullptr || table->sh_link >= sections.size()) return symbols;
  symbols.names = sections[table->sh_link].sh_offset;
  symbols.names_size = sections[table->sh_link].sh_size;
  for (const ElfW(Sym) & symbol :
       file.read<ElfW(Sym)>(table->sh_offset, table->sh_size / sizeof(ElfW(Sym)))) {
    const auto type = symbol.st_info & 0xf;
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    const auto size = std::min<std::uint64_t>(symbol.st_size, UINT32_MAX);
    symbols.functions.push_back(
        {symbol.st_value, static_cast<std::uint32_t>(size), symbol.st_name});
  }
  std::sort(symbols.functions.begin(), symbols.functions.end(),
            [](const Function& a, const Function& b) { return a.begin < b.begin; });
  return symbols;
}

std::string FunctionNames::of(const Frame& frame, const std::string& path) {
  if (frame.module == 0 || frame.offset == 0) return {};
  auto found = modules_.find(frame.module);
  if (found == modules_.end()) found = modules_.emplace(frame.module, read(path)).first;
  const Symbols& symbols = found->second;
  const std::uint64_t call = frame.offset - 1;  // the return may be behind the function's end
  auto at = std::upper_bound(
      symbols.functions.begin(), symbols.functions.end(), call,
      [](std::uint64_t address, const Function& function) { return address < function.begin; });
  // Of several at one place, or within each other, the last that holds it.
  constexpr int kTried = 8;
  for (int i = 0; i < kTried && at != symbols.functions.begin(); ++i) {
    --at;
    if (call - at->begin >= at->size) continue;
    if (at->name >= symbols.names_size) return {};
    const File file(path);
    constexpr std::uint64_t kLongest = 4096;
    const std::uint64_t begin = symbols.names + at->name;
    const std::uint64_t left = std::min(symbols.names_size - at->name, kLongest);
    const auto text = file.read<char>(begin, left);
    const auto end = std::find(text.begin(), text.end(), '\0');
    return {text.begin(), end};
  }
  return {};
}

}  // namespace chameleon::callpath
