// SPDX-License-Identifier: BSD-3-Clause
namespace contracts {

struct Size {
  long bytes = 0;
  long more = 0;
  virtual ~Size() = default;
};
int other_bytes() { return static_cast<int>(Size().bytes); }

}  // namespace contracts
