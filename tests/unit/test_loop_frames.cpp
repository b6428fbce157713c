// SPDX-License-Identifier: BSD-3-Clause
/// The place of a call: the innermost frame of the program's own.

#include "analysis/loop_frames.h"
#include "unit/catch.h"

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

TEST_CASE("what an interpreter does for a program is the program's, and its end has a name") {
  Paths paths;
  paths.trace.modules[13] = {"", "/usr/bin/python3.11"};
  paths.trace.modules[14] = {"", "/usr/lib/libc.so.6"};
  const Frame extension{11, 16}, interpreter{13, 16}, libc{14, 16};
  const Frame own = paths.source("/home/me/solver.py"),
              thread = paths.source("/usr/lib/python3.11/threading.py"),
              frozen = paths.source("<frozen runpy>"),
              pool = paths.source("/usr/lib/python3/mpi4py/futures/_core.py"),
              package = paths.source("/usr/lib/python3.11/site-packages/solver/step.py");
  CHECK(paths.innermost({extension, thread, own}) == 2);
  CHECK(paths.innermost({extension, interpreter, own}) == 2);
  CHECK(paths.innermost({extension, package, thread}) == 1);
  CHECK(paths.innermost({extension, pool, thread, frozen}) == 1);
  CHECK(paths.innermost({extension, thread, interpreter}) == 1);
  const std::vector<Frame> end = {extension, interpreter, libc, interpreter};
  CHECK(paths.innermost(end) == 1);
  CHECK(is_interpreters_end(paths.trace, end));
  CHECK_FALSE(is_interpreters_end(paths.trace, {extension, interpreter, own}));
  CHECK_FALSE(is_interpreters_end(paths.trace, {extension, Frame{9, 16}, libc}));
  CHECK_FALSE(is_interpreters_end(paths.trace, {}));
}
