"""The search that ``optimal`` and ``semantic-optimal`` share: start, cycles, the clock, proof, interruption.

What is searched is ``searchable``, for records of any kind; how long, a ``budget``; what came of it, ``found``. The
``driver`` has the one loop, at the ``pace`` that the clock allows, and ``proof`` says how far from the optimum it is.
"""
