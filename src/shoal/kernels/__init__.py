"""Compiled kernels: distances, pools of records that leave, selection. Only here is numba imported, to compile."""
