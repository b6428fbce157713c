// SPDX-License-Identifier: BSD-3-Clause
#include "callpath/python_runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

namespace chameleon::callpath {
namespace {

std::atomic<const PythonRuntime*> found_runtime{nullptr};
std::atomic<bool> is_wanted{true};
std::atomic<bool> some_not_read{false};
std::atomic<const std::string*> reason{nullptr};  ///< why the one that there is cannot be read

/// "3.10.13" of what `Py_GetVersion` gives.
std::string version_text() {
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  const std::string text = version != nullptr ? version() : "";
  return text.substr(0, text.find(' '));
}

std::uintptr_t address_of(const char* name) {
  return reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, name));
}

/// The interpreter's description; null, and why, if it is not known.
const PythonRuntime* describe(const void* eval, std::string& why) {
  const auto* const version = static_cast<const unsigned long*>(dlsym(RTLD_DEFAULT, "Py_Version"));
  const void* const state = dlsym(RTLD_DEFAULT, "_PyRuntime");
  PythonRuntime runtime;
  if (version != nullptr && state != nullptr)
    if (const auto layout = python_layout(static_cast<std::uint32_t>(*version), state))
      runtime.layout = *layout;
  Dl_info where{};
  void* symbol = nullptr;
  if (dladdr1(eval, &where, &symbol, RTLD_DL_SYMENT) != 0 && symbol != nullptr) {
    runtime.eval_begin = reinterpret_cast<std::uintptr_t>(eval);
    runtime.eval_end = runtime.eval_begin + static_cast<const ElfW(Sym)*>(symbol)->st_size;
  }
  runtime.thread_state =
      reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
  runtime.code_type = address_of("PyCode_Type");
  runtime.text_type = address_of("PyUnicode_Type");
  runtime.bytes_type = address_of("PyBytes_Type");
  if (runtime.layout == PythonLayout{}) {
    why = "call paths do not show Python's functions: Python " + version_text() +
          " is not known (3.11, 3.12 and 3.13 are)";
    return nullptr;
  }
  char byte;
  if (!read_checked(runtime.code_type, &byte, 1) || runtime.thread_state == nullptr ||
      runtime.eval_end == runtime.eval_begin || runtime.text_type == 0 || runtime.bytes_type == 0) {
    why = "call paths do not show Python's functions: this system does not let them be read";
    return nullptr;
  }
  return new PythonRuntime(runtime);
}

}  // namespace

void PythonRuntime::look() {
  if (!is_wanted.load(std::memory_order_relaxed) || present() != nullptr) return;
  const void* const eval = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
  if (eval == nullptr || reason.load() != nullptr) return;
  // Two threads that come at once find the same: what one of them leaves is little.
  std::string why;
  if (const PythonRuntime* const runtime = describe(eval, why))
    found_runtime.store(runtime, std::memory_order_release);
  else
    reason.store(new std::string(why));
}

const PythonRuntime* PythonRuntime::present() noexcept {
  return is_wanted.load(std::memory_order_relaxed) ? found_runtime.load(std::memory_order_acquire)
                                                   : nullptr;
}

void PythonRuntime::set_wanted(bool wanted) noexcept { is_wanted.store(wanted); }

void PythonRuntime::note_not_read() noexcept { some_not_read.store(true); }

std::string PythonRuntime::not_shown() {
  if (const std::string* const why = reason.load()) return *why;
  if (!some_not_read.load()) return {};
  return "some call paths show Python's interpreter and not its functions: these run in another "
         "interpreter of the process, or in a coroutine with a stack of its own";
}

bool read_checked(std::uintptr_t address, void* to, std::size_t size) noexcept {
  const int saved = errno;
  iovec here{to, size};
  iovec there{reinterpret_cast<void*>(address), size};
  const bool whole =
      process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
  errno = saved;
  return whole;
}

}  // namespace chameleon::callpath
