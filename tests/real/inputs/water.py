# SPDX-License-Identifier: BSD-3-Clause
"""The energy of a water molecule (GPAW)."""

from ase import Atoms
from gpaw import GPAW
from gpaw.mpi import world

water = Atoms("H2O", positions=[(0, 0.757, -0.469), (0, -0.757, -0.469), (0, 0, 0.117)])
water.center(vacuum=1.5)
water.calc = GPAW(mode="lcao", basis="dzp", h=0.3, maxiter=30, txt=None,
                  convergence={"energy": 1e-3, "density": 1e-3})
energy = water.get_potential_energy()
if world.rank == 0:
    print(f"energy {energy:.3f}")
