"""Hierarchies by walking up: a tree is a dict of parents, or the list of its (child, parent) pairs."""

from __future__ import annotations


def above(tree, name):
    """A name and all above it, by looking each parent up."""
    parent = dict(tree)
    path = [name]
    while path[-1] in parent:
        path.append(parent[path[-1]])
    return path


def subsumer(tree, a, b):
    """The lowest name above both."""
    others = above(tree, b)
    return next(name for name in above(tree, a) if name in others)


def wu_palmer(tree, a, b):
    """The distance of Wu and Palmer: depths are counted from 1 at the root."""
    return 1.0 - 2.0 * len(above(tree, subsumer(tree, a, b))) / (len(above(tree, a)) + len(above(tree, b)))
