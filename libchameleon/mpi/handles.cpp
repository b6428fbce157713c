// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/handles.h"

#include <vector>

namespace chameleon::mpi {
namespace {

class Builder {
 public:
  template <class Handle>
  void null(Kind kind, const char* name, Handle handle) {
    list_.push_back({kind, name, handle_bits(handle), -1});
  }
  template <class Handle>
  void add(Kind kind, const char* name, Handle handle, std::int64_t id) {
    list_.push_back({kind, name, handle_bits(handle), id});
  }
  template <class Handle>
  void next(Kind kind, const char* name, Handle handle, Handle null) {
    if (handle == null) return;  // a type this build lacks (Fortran's, REAL16, ...)
    for (const PredefinedHandle& known : list_)
      if (known.kind == kind && known.handle == handle_bits(handle)) return;  // another name
    std::int64_t id = -2;
    for (const PredefinedHandle& known : list_)
      if (known.kind == kind && known.id <= id) id = known.id - 1;
    list_.push_back({kind, name, handle_bits(handle), id});
  }
  std::vector<PredefinedHandle> take() { return std::move(list_); }

 private:
  std::vector<PredefinedHandle> list_;
};

std::vector<PredefinedHandle> build() {
  Builder b;
  b.null(Kind::kComm, "MPI_COMM_NULL", MPI_COMM_NULL);
  b.add(Kind::kComm, "MPI_COMM_WORLD", MPI_COMM_WORLD, 0);
  b.add(Kind::kComm, "MPI_COMM_SELF", MPI_COMM_SELF, 1);
  b.null(Kind::kRequest, "MPI_REQUEST_NULL", MPI_REQUEST_NULL);
  b.null(Kind::kGroup, "MPI_GROUP_NULL", MPI_GROUP_NULL);
  b.next(Kind::kGroup, "MPI_GROUP_EMPTY", MPI_GROUP_EMPTY, MPI_GROUP_NULL);
  b.null(Kind::kWin, "MPI_WIN_NULL", MPI_WIN_NULL);
  b.null(Kind::kFile, "MPI_FILE_NULL", MPI_FILE_NULL);
  b.null(Kind::kInfo, "MPI_INFO_NULL", MPI_INFO_NULL);
  b.next(Kind::kInfo, "MPI_INFO_ENV", MPI_INFO_ENV, MPI_INFO_NULL);
  b.null(Kind::kErrhandler, "MPI_ERRHANDLER_NULL", MPI_ERRHANDLER_NULL);
  b.next(Kind::kErrhandler, "MPI_ERRORS_ARE_FATAL", MPI_ERRORS_ARE_FATAL, MPI_ERRHANDLER_NULL);
  b.next(Kind::kErrhandler, "MPI_ERRORS_RETURN", MPI_ERRORS_RETURN, MPI_ERRHANDLER_NULL);
#ifdef MPI_ERRORS_ABORT
  b.next(Kind::kErrhandler, "MPI_ERRORS_ABORT", MPI_ERRORS_ABORT, MPI_ERRHANDLER_NULL);
#endif
  b.null(Kind::kMessage, "MPI_MESSAGE_NULL", MPI_MESSAGE_NULL);
  b.next(Kind::kMessage, "MPI_MESSAGE_NO_PROC", MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL);
  b.add(Kind::kKeyval, "MPI_KEYVAL_INVALID", MPI_KEYVAL_INVALID, -1);
#ifdef MPI_SESSION_NULL
  b.null(Kind::kSession, "MPI_SESSION_NULL", MPI_SESSION_NULL);
#endif
#define CHAMELEON_TYPE(name) b.next(Kind::kDatatype, #name, name, MPI_DATATYPE_NULL);
#define CHAMELEON_OP(name) b.next(Kind::kOp, #name, name, MPI_OP_NULL);
  b.null(Kind::kDatatype, "MPI_DATATYPE_NULL", MPI_DATATYPE_NULL);
  b.null(Kind::kOp, "MPI_OP_NULL", MPI_OP_NULL);
#include "mpi/predefined.inc"
#undef CHAMELEON_TYPE
#undef CHAMELEON_OP
  return b.take();
}

}  // namespace

std::span<const PredefinedHandle> predefined_handles() {
  static const std::vector<PredefinedHandle> list = build();
  return list;
}

}  // namespace chameleon::mpi
