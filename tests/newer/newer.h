/* SPDX-License-Identifier: BSD-3-Clause */
/* Twenty functions of an MPI that is newer than the table, as its mpi.h would declare them. */
#ifndef CHAMELEON_TESTS_NEWER
#define CHAMELEON_TESTS_NEWER
#if defined(__cplusplus)
extern "C" {
#endif
int MPI_Newer_1(MPI_Comm comm);
int MPI_Newer_2(MPI_Comm comm);
int MPI_Newer_3(MPI_Comm comm);
int MPI_Newer_4(MPI_Comm comm);
int MPI_Newer_5(MPI_Comm comm);
int MPI_Newer_6(MPI_Comm comm);
int MPI_Newer_7(MPI_Comm comm);
int MPI_Newer_8(MPI_Comm comm);
int MPI_Newer_9(MPI_Comm comm);
int MPI_Newer_10(MPI_Comm comm);
int MPI_Newer_11(MPI_Comm comm);
int MPI_Newer_12(MPI_Comm comm);
int MPI_Newer_13(MPI_Comm comm);
int MPI_Newer_14(MPI_Comm comm);
int MPI_Newer_15(MPI_Comm comm);
int MPI_Newer_16(MPI_Comm comm);
int MPI_Newer_17(MPI_Comm comm);
int MPI_Newer_18(MPI_Comm comm);
int MPI_Newer_19(MPI_Comm comm);
int MPI_Newer_20(MPI_Comm comm);
#if defined(__cplusplus)
}
#endif
#endif
