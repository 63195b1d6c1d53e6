"""The method ``optimal``: groups that lose less than any other method's, and how far from the optimum they can be."""
