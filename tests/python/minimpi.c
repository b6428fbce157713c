// SPDX-License-Identifier: BSD-3-Clause
// A small module of MPI for Python, against whichever MPI it is compiled with. As mpi4py does, it
// gives the interpreter's lock away while it is in MPI; `barrier_with_lock` does not. `call` calls
// a function of Python from C, so that the interpreter's loop runs within itself.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <mpi.h>

#define UNLOCKED(call)                                                                  \
  Py_BEGIN_ALLOW_THREADS code = (call);                                                 \
  Py_END_ALLOW_THREADS if (code != MPI_SUCCESS) return PyErr_Format(PyExc_RuntimeError, \
                                                                    "MPI error %d", code)

static PyObject* init(PyObject* self, PyObject* args) {
  int wanted = MPI_THREAD_SINGLE, provided = 0, code = 0;
  if (!PyArg_ParseTuple(args, "|i", &wanted)) return NULL;
  UNLOCKED(MPI_Init_thread(NULL, NULL, wanted, &provided));
  return PyLong_FromLong(provided);
}

static PyObject* finalize(PyObject* self, PyObject* args) {
  int code = 0;
  UNLOCKED(MPI_Finalize());
  Py_RETURN_NONE;
}

static PyObject* rank(PyObject* self, PyObject* args) {
  int value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &value);
  return PyLong_FromLong(value);
}

static PyObject* size(PyObject* self, PyObject* args) {
  int value = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &value);
  return PyLong_FromLong(value);
}

static PyObject* barrier(PyObject* self, PyObject* args) {
  int code = 0;
  UNLOCKED(MPI_Barrier(MPI_COMM_WORLD));
  Py_RETURN_NONE;
}

static PyObject* barrier_with_lock(PyObject* self, PyObject* args) {
  MPI_Barrier(MPI_COMM_WORLD);
  Py_RETURN_NONE;
}

static PyObject* send(PyObject* self, PyObject* args) {
  int value = 0, dest = 0, tag = 0, code = 0;
  if (!PyArg_ParseTuple(args, "ii|i", &value, &dest, &tag)) return NULL;
  UNLOCKED(MPI_Send(&value, 1, MPI_INT, dest, tag, MPI_COMM_WORLD));
  Py_RETURN_NONE;
}

static PyObject* recv(PyObject* self, PyObject* args) {
  int value = 0, source = MPI_ANY_SOURCE, tag = 0, code = 0;
  if (!PyArg_ParseTuple(args, "|ii", &source, &tag)) return NULL;
  UNLOCKED(MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  return PyLong_FromLong(value);
}

static PyObject* sendrecv(PyObject* self, PyObject* args) {
  int value = 0, dest = 0, source = 0, got = 0, code = 0;
  if (!PyArg_ParseTuple(args, "iii", &value, &dest, &source)) return NULL;
  UNLOCKED(MPI_Sendrecv(&value, 1, MPI_INT, dest, 0, &got, 1, MPI_INT, source, 0, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
  return PyLong_FromLong(got);
}

static PyObject* allreduce(PyObject* self, PyObject* args) {
  int value = 0, sum = 0, code = 0;
  if (!PyArg_ParseTuple(args, "i", &value)) return NULL;
  UNLOCKED(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  return PyLong_FromLong(sum);
}

static PyObject* call(PyObject* self, PyObject* args) {
  PyObject* function = NULL;
  if (!PyArg_ParseTuple(args, "O", &function)) return NULL;
  return PyObject_CallNoArgs(function);
}

static PyMethodDef methods[] = {
    {"init", init, METH_VARARGS, NULL},
    {"finalize", finalize, METH_NOARGS, NULL},
    {"rank", rank, METH_NOARGS, NULL},
    {"size", size, METH_NOARGS, NULL},
    {"barrier", barrier, METH_NOARGS, NULL},
    {"barrier_with_lock", barrier_with_lock, METH_NOARGS, NULL},
    {"send", send, METH_VARARGS, NULL},
    {"recv", recv, METH_VARARGS, NULL},
    {"sendrecv", sendrecv, METH_VARARGS, NULL},
    {"allreduce", allreduce, METH_VARARGS, NULL},
    {"call", call, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "minimpi", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_minimpi(void) { return PyModule_Create(&module); }
