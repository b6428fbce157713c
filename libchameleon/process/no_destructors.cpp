// SPDX-License-Identifier: BSD-3-Clause
// Programs call MPI_Finalize from destructors of static objects and from atexit functions, which
// may run after those of the objects here. So objects of this library with static storage are
// never destroyed: what the compiler registers for that ends here, in all of the library and what
// is linked into it, and memory goes with the process. (Linked with -z nodelete, for the same
// reason: there is a handler of SIGTERM, a thread, and changed slots of the Fortran library.)

extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*);

extern "C" int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
