// SPDX-License-Identifier: BSD-3-Clause
// With other_size.cpp: two types of one name, which the build for contracts must not link.
namespace contracts {

struct Size {
  int bytes = 0;
  virtual ~Size() = default;
};
int other_bytes();

}  // namespace contracts

int main() { return contracts::Size().bytes + contracts::other_bytes(); }
