"""BLOCK: rows to independent blocks of at least k records, which are then partitioned one by one."""
