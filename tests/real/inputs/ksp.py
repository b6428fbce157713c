# SPDX-License-Identifier: BSD-3-Clause
"""The five-point Laplacian on a square, solved by the Krylov method of the options (petsc4py)."""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  (the options have to be given first)

SIDE = 24

matrix = PETSc.Mat().createAIJ([SIDE * SIDE, SIDE * SIDE], nnz=5)
for row in range(*matrix.getOwnershipRange()):
    i, j = divmod(row, SIDE)
    matrix[row, row] = 4.0
    for k, m in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
        if 0 <= k < SIDE and 0 <= m < SIDE:
            matrix[row, k * SIDE + m] = -1.0
matrix.assemble()
solution, right = matrix.createVecs()
right.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.getPC().setType("bjacobi")
solver.setFromOptions()
solver.solve(right, solution)
total = solution.sum()
PETSc.Sys.Print(f"iterations {solver.getIterationNumber()} sum {total:.4f}")
