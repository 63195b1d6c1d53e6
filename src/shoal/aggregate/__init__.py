"""AGGREGATE: the representatives of groups, for numbers, for categories and for combinations of them."""
