"""Conditions on groups beyond their size: what each asks, and growing the groups until all hold."""
