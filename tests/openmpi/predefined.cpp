// SPDX-License-Identifier: BSD-3-Clause
// The objects that every program has, and their ids in a trace: a line `KIND NAME ID` each.
#include <cstdio>

#include "mpi/handles.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const chameleon::mpi::PredefinedHandle& one : chameleon::mpi::predefined_handles())
    std::printf("%d %s %lld\n", static_cast<int>(one.kind), one.name,
                static_cast<long long>(one.id));
  MPI_Finalize();
  return 0;
}
