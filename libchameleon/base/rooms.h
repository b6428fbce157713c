// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The rooms of the project, each a folder, a CMake target and a namespace, and the arrows between
/// them. A room uses the names of those that it lists here, and includes their headers only
/// (tests/unit/test_rooms.py). Names of `base` and `model` are the common vocabulary: they belong
/// to `chameleon` itself. `docs/design/rooms.md` says what each room is for.

namespace chameleon {

inline namespace base {}
inline namespace model {}

namespace statemachine {}
namespace statistics {}
namespace markers {}
namespace callpath {}
namespace world {}
namespace compress {}
namespace mpi {}

namespace signature {
using namespace mpi;
}
namespace format {
using namespace compress;
}
namespace cluster {
using namespace signature;
using namespace statistics;
using namespace world;
}  // namespace cluster
namespace flush {
using namespace cluster;
using namespace compress;
using namespace format;
using namespace signature;
using namespace world;
}  // namespace flush

// Inside the traced process.
namespace record {
using namespace callpath;
using namespace compress;
using namespace flush;
using namespace mpi;
using namespace signature;
}  // namespace record
namespace online {
using namespace cluster;
using namespace compress;
using namespace flush;
using namespace markers;
using namespace signature;
using namespace statemachine;
using namespace world;
}  // namespace online
namespace process {
using namespace world;
using namespace callpath;
using namespace compress;
using namespace flush;
using namespace format;
using namespace markers;
using namespace mpi;
using namespace online;
using namespace record;
using namespace statemachine;
}  // namespace process
namespace intercept {
using namespace markers;
using namespace mpi;
using namespace process;
using namespace record;
}  // namespace intercept

// Readers of finished traces.
namespace analysis {
using namespace cluster;
using namespace compress;
using namespace flush;
using namespace format;
using namespace mpi;
using namespace signature;
using namespace statistics;
using namespace world;
}  // namespace analysis
namespace reader {
using namespace analysis;
using namespace format;
}  // namespace reader
namespace replay {
using namespace analysis;
using namespace format;
using namespace mpi;
}  // namespace replay
namespace tools {
using namespace analysis;
using namespace cluster;
using namespace compress;
using namespace flush;
using namespace format;
using namespace mpi;
using namespace online;
using namespace process;
using namespace record;
using namespace signature;
using namespace statistics;
using namespace world;
}  // namespace tools

}  // namespace chameleon
