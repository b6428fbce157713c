// SPDX-License-Identifier: BSD-3-Clause
/// The place of a call: the innermost frame of the program's own.

#include <catch2/catch.hpp>

#include "analysis/loop_frames.h"

using namespace chameleon;
using namespace chameleon::analysis;

namespace {

struct Paths {
  Paths() {
    trace.modules[7] = {"", "/usr/lib/libmpi.so.12"};
    trace.modules[8] = {"", "/usr/lib/libhdf5_openmpi.so.103"};
    trace.modules[9] = {"", "/home/me/solver"};
    trace.modules[10] = {"", "/home/me/libmesh.so"};
    trace.modules[11] = {"", "/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311.so"};
    trace.modules[12] = {"", "/home/me/env/h5py/_hl.cpython-311.so"};
  }
  Frame source(const std::string& file) {
    const SourceFrame frame{file, "step", 1, 2, 1, 2, 9};
    const std::uint64_t id = source_id(frame);
    trace.sources.emplace(id, frame);
    return {0, id};
  }
  std::size_t innermost(const std::vector<Frame>& frames) const {
    return innermost_frame(trace, frames);
  }
  Trace trace;
};

}  // namespace

TEST_CASE("a place is in the program, not in what calls MPI for it") {
  Paths paths;
  const Frame mpi{7, 16}, hdf5{8, 16}, solver{9, 16}, mesh{10, 16};
  CHECK(paths.innermost({solver}) == 0);
  CHECK(paths.innermost({mpi, solver}) == 1);
  CHECK(paths.innermost({hdf5, hdf5, solver}) == 2);
  CHECK(paths.innermost({mesh, solver}) == 0);  // a library of the program's own
  CHECK(paths.innermost({mpi, hdf5}) == 0);     // nothing better
}

TEST_CASE("a place in Python is a line of the program") {
  Paths paths;
  const Frame extension{11, 16}, file{12, 16},
      own = paths.source("/home/me/solver.py"),
      pool = paths.source("/usr/lib/python3/mpi4py/futures/_core.py");
  CHECK(paths.innermost({extension, own}) == 1);
  CHECK(paths.innermost({extension, pool, own}) == 2);
  CHECK(paths.innermost({file, own}) == 1);
  CHECK(paths.innermost({extension, pool}) == 1);  // a thread of mpi4py's own
}
