"""Random hierarchies, and what walking up says of them.

A tree is a dict of parents, or the list of its (child, parent) pairs.
"""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def trees(draw, most=24):
    """Pairs of child and parent of a random tree, shuffled, and its root."""
    size = draw(st.integers(1, most))
    parents = [draw(st.integers(0, node - 1)) for node in range(1, size)]
    names = draw(st.permutations([f"n{i}" for i in range(size)]))
    pairs = [(names[node + 1], names[parent]) for node, parent in enumerate(parents)]
    return draw(st.permutations(pairs)), names[0]


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
