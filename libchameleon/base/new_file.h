// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Making files in folders that others can write to, too. A name there may already be a link that
/// somebody put to where it does harm, so nothing is ever written through one: a file is made anew,
/// under a name that was free, and replaces what had its name by a rename, which takes the link's
/// place and leaves alone what it points to. Only the owner may write what is made
/// (0644 and the umask). Devices and pipes are refused.

#include <string>

#include "base/foreign_file.h"
#include "base/result.h"
#include "base/rooms.h"

namespace chameleon::inline base {

/// The mode of new files, before the umask.
inline constexpr int kNewFileMode = 0644;

/// Makes `path`, which must be free (errno EEXIST), to read and write. fd() < 0: errno says why.
OpenFile create_free(const std::string& path);

/// A new file beside `path`, whose name the caller renames or removes.
struct FileBeside {
  OpenFile file;  ///< fd() < 0: errno says why
  std::string name;
};
FileBeside create_beside(const std::string& path);

/// Whether `path` is free, a link, or a regular file: what a new file may take the place of.
/// Error (kSystem): it is something else.
Status may_be_replaced(const std::string& path);

/// Makes an empty file under the name `path` at once, in the place of what had it. For files that
/// grow while others already read them.
Result<OpenFile> create_in_place(const std::string& path);

/// A file without a name in the folder of `path`: it is gone when its descriptor is.
OpenFile create_nameless(const std::string& path);

/// An output of a tool: appears under its name when it is whole, and not at all if it fails.
/// The names /dev/stdout, /dev/stderr and /dev/fd/N are the descriptors of this process, and a
/// device of its own name (/dev/null) is written as it is.
class NewFile {
 public:
  explicit NewFile(std::string path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  int fd() const { return file_.fd(); }
  const std::string& path() const { return path_; }
  /// False: `commit` says why.
  bool write(const char* bytes, std::size_t size);
  /// Gives the file its name. Error (kSystem), in one line with the name: it cannot be written.
  Status commit();

 private:
  void fail(const std::string& why);

  std::string path_, beside_;  ///< beside_: empty where there is nothing to rename
  std::string why_;            ///< of the first failure
  OpenFile file_;
};

/// The same for a text.
Status write_new_file(const std::string& path, const std::string& text);

}  // namespace chameleon::inline base
