// SPDX-License-Identifier: BSD-3-Clause
// A preload that says, when the program ends, where the Fortran libraries of Open MPI go when they
// call PMPI_*: on rank 0 a line `slot LIBRARY PMPI_Send FILE` for each import, on standard error.
// An independent witness: it reads the loader's tables by itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int look(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  const char* name = strrchr(info->dlpi_name, '/');
  name = name == NULL ? info->dlpi_name : name + 1;
  if (strncmp(name, "libmpi_mpifh", 12) != 0 && strncmp(name, "libmpi_usempi", 13) != 0) return 0;
  const ElfW(Sym)* symbols = NULL;
  const char* names = NULL;
  const ElfW(Rela) * tables[2] = {NULL, NULL};
  size_t bytes[2] = {0, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn)* entry = (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym)*)entry->d_un.d_ptr;
      if (entry->d_tag == DT_STRTAB) names = (const char*)entry->d_un.d_ptr;
      if (entry->d_tag == DT_JMPREL) tables[0] = (const ElfW(Rela)*)entry->d_un.d_ptr;
      if (entry->d_tag == DT_PLTRELSZ) bytes[0] = entry->d_un.d_val;
      if (entry->d_tag == DT_RELA) tables[1] = (const ElfW(Rela)*)entry->d_un.d_ptr;
      if (entry->d_tag == DT_RELASZ) bytes[1] = entry->d_un.d_val;
    }
  }
  for (int t = 0; t < 2; ++t)
    for (size_t i = 0; symbols != NULL && names != NULL && i < bytes[t] / sizeof(ElfW(Rela)); ++i) {
      const unsigned type = ELF64_R_TYPE(tables[t][i].r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const char* symbol = names + symbols[ELF64_R_SYM(tables[t][i].r_info)].st_name;
      if (strncmp(symbol, "PMPI_", 5) != 0) continue;
      Dl_info where;
      void* to = *(void**)(info->dlpi_addr + tables[t][i].r_offset);
      fprintf(stderr, "slot %s %s %s\n", name, symbol,
              dladdr(to, &where) != 0 ? where.dli_fname : "?");
    }
  return 0;
}

__attribute__((destructor)) static void report(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank != NULL && strcmp(rank, "0") == 0) dl_iterate_phdr(look, NULL);
}
