"""Measures of what a release keeps and what it risks."""
