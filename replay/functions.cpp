// SPDX-License-Identifier: BSD-3-Clause
// What stands in for functions of the program, which a trace does not hold: they do nothing.
#include <string_view>

#include "replay/interpreter.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace chameleon::replay {
namespace {

void no_op(void*, void*, int*, MPI_Datatype*) {}
void no_op_large(void*, void*, MPI_Count*, MPI_Datatype*) {}

template <class Handle>
void no_handler(Handle*, int*, ...) {}

// Of a generalized request: nothing was moved, nothing is to be freed.
int no_query(void*, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int no_free(void*) { return MPI_SUCCESS; }
int no_cancel(void*, int) { return MPI_SUCCESS; }

// Of an attribute.
template <class Handle>
int no_delete(Handle, int, void*, void*) {
  return MPI_SUCCESS;
}

}  // namespace

/// Where the program gave none (MPI_COMM_NULL_COPY_FN), so does the replay. Else attributes are
/// copied: whoever deletes one from a copy finds it.
Word Interpreter::function_for(std::size_t at) const {
  if (value(static_cast<int>(at)) == 0) return 0;
  const std::string_view name = plan_->params[at].info.name;
  const bool copies = name.find("copy") != std::string_view::npos;
  switch (static_cast<CallId>(plan_->info->id)) {
    case CallId::kOpCreate: return to_word(&no_op);
    case CallId::kOpCreateC: return to_word(&no_op_large);
    case CallId::kCommCreateErrhandler:
    case CallId::kErrhandlerCreate: return to_word(&no_handler<MPI_Comm>);
    case CallId::kWinCreateErrhandler: return to_word(&no_handler<MPI_Win>);
    case CallId::kFileCreateErrhandler: return to_word(&no_handler<MPI_File>);
#if MPI_VERSION >= 4
    case CallId::kSessionCreateErrhandler: return to_word(&no_handler<MPI_Session>);
#endif
    case CallId::kCommCreateKeyval:
      return copies ? to_word(MPI_COMM_DUP_FN) : to_word(&no_delete<MPI_Comm>);
    case CallId::kTypeCreateKeyval:
      return copies ? to_word(MPI_TYPE_DUP_FN) : to_word(&no_delete<MPI_Datatype>);
    case CallId::kWinCreateKeyval:
      return copies ? to_word(MPI_WIN_DUP_FN) : to_word(&no_delete<MPI_Win>);
    case CallId::kKeyvalCreate: return copies ? to_word(MPI_DUP_FN) : to_word(&no_delete<MPI_Comm>);
    case CallId::kGrequestStart:
      if (name == "query_fn") return to_word(&no_query);
      return name == "free_fn" ? to_word(&no_free) : to_word(&no_cancel);
    default: return 0;
  }
}

/// Of unknown origin.
MPI_Op Interpreter::some_op(bool commutes) {
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create(&no_op, commutes ? 1 : 0, &op);
  return op;
}

MPI_Errhandler Interpreter::some_errhandler() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_create_errhandler(&no_handler<MPI_Comm>, &handler);
  return handler;
}

}  // namespace chameleon::replay
