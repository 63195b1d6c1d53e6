"""Compiled kernels: distances, pools of records that leave, selection. The only place that imports numba."""
