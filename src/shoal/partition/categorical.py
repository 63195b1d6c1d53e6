"""The entries of the methods that take categories, or distinct records of any kind."""

from __future__ import annotations

from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.partition.k_modes import k_modes
from shoal.partition.mdav_by_record import mdav_generic, s_mdav
from shoal.partition.method import SEARCH_OPTIONS, Method, Option
from shoal.partition.mondrian import (
    MIXED,
    POST_ORDER,
    mondrian,
    mondrian_mixed,
    mondrian_ordered,
    mondrian_strict,
    sa_mondrian,
)
from shoal.partition.mondrian_relaxed import mondrian_relaxed
from shoal.partition.semantic_mdav import sa_mdav, sa_mdav_static
from shoal.partition.semantic_optimal import search_mixed, semantic_optimal
from shoal.partition.semantic_optimal.problem import INFORMATION, RECORDS
from shoal.plan.roles import EVERY_KIND, ORDERED

_DISSOLVE = Option(
    "dissolve", "afterwards, dissolve groups whose records lose less in their nearest other groups", False, bool
)
_RARE = Option(
    "rare", "end when all that remain occur at most so often, and put these into the nearest groups", 0, int, least=0
)
_PERSIST = Option(
    "persist", "try every place of every column before a part remains whole, not only the first", True, bool
)
_TRAVERSAL = Option(
    "traversal",
    "order of the names of a hierarchy: each after those below it, or before where that is nearer to its neighbours",
    POST_ORDER,
    str,
    choices=(POST_ORDER, MIXED),
)

CATEGORICAL = (
    Method(
        "semantic-optimal",
        semantic_optimal,
        doc="The least loss that a search finds on columns of any kind: simulated annealing of distinct records.",
        source="this project; see its page",
        cost="O(h) a step for hierarchies of h names, after sa-mdav or sa-mondrian",
        options=(
            *SEARCH_OPTIONS,
            Option(
                "lower",
                "which loss: that of information, column by column, or that of records, by their distances",
                INFORMATION,
                str,
                choices=(INFORMATION, RECORDS),
            ),
            Option("split", "equal records may be separated where that lowers the loss", True, bool),
        ),
        exclusive=(("steps", "time"), ("gap", "bound")),
        search=search_mixed,
        kinds=EVERY_KIND,
        records=QuasiIdentifiers.counted,
        category_aggregator="least-squares",
    ),
    Method(
        "s-mdav",
        s_mdav,
        doc="MDAV by meaning: groups of k records, each joined by those nearest to its centroid.",
        source="Martinez, Sanchez & Valls 2012",
        cost="O(d m n / k + k d m^2) for m distinct records",
        options=(
            Option(
                "around",
                "what the records that join a group are near to: its centroid, found again with each, or its seed",
                "centroid",
                str,
                choices=("centroid", "seed"),
            ),
        ),
        kinds=EVERY_KIND,
        records=QuasiIdentifiers.counted,
    ),
    Method(
        "sa-mdav",
        sa_mdav,
        doc="Adaptive MDAV by meaning: equal records together, the nearest join until there are k.",
        source="Martinez, Sanchez & Valls 2012",
        cost="O(d m^2) for m distinct records",
        options=(_RARE, _DISSOLVE),
        kinds=EVERY_KIND,
        records=QuasiIdentifiers.counted,
    ),
    Method(
        "sa-mdav-static",
        sa_mdav_static,
        doc="As sa-mdav, with distances from the first record of a group instead of from its centroid.",
        source="Martinez, Sanchez & Valls 2012",
        cost="O(d m^2) for m distinct records",
        options=(_RARE, _DISSOLVE),
        kinds=EVERY_KIND,
        records=QuasiIdentifiers.counted,
    ),
    Method(
        "mdav-generic",
        mdav_generic,
        doc="MDAV on numbers, ordinal and nominal columns together: groups of k; hierarchies play no part.",
        source="Domingo-Ferrer & Torra 2005",
        cost="O(d m n / k + k d m^2) for m distinct records",
        kinds=EVERY_KIND,
        records=QuasiIdentifiers.counted,
        category_aggregator="mode",
    ),
    Method(
        "k-modes",
        k_modes,
        doc="k-means with modes for categories; groups that are too small are dissolved; depends on the seed.",
        source="Torra 2004",
        cost="O(d m c) a round for m distinct records and c centres",
        options=(Option("rounds", "most rounds of assigning records to centres", 10, int, least=1),),
        kinds=EVERY_KIND,
        records=QuasiIdentifiers.counted,
        category_aggregator="mode",
    ),
    Method(
        "mondrian",
        mondrian,
        doc="Cuts along the widest column at its median while both parts keep k; equal values together.",
        source="LeFevre, DeWitt & Ramakrishnan 2006",
        cost="O(d m log m) a level for m distinct records",
        options=(_PERSIST,),
        kinds=ORDERED,
        records=QuasiIdentifiers.counted,
    ),
    Method(
        "mondrian-relaxed",
        mondrian_relaxed,
        doc="Cuts along the widest column into halves of equal size; equal values may be separated.",
        source="LeFevre, DeWitt & Ramakrishnan 2006",
        cost="O(d m log m) a level for m distinct records",
        kinds=ORDERED,
        records=QuasiIdentifiers.counted,
    ),
    Method(
        "mondrian-mixed",
        mondrian_mixed,
        doc="mondrian on all kinds of columns; the least common subsumer of a group is released.",
        source="MOSAICrOWN D5.5 2021",
        cost="O(d m log m) a level for m distinct records",
        options=(_PERSIST, _TRAVERSAL),
        kinds=EVERY_KIND,
        records=QuasiIdentifiers.counted,
        category_aggregator="least-common-subsumer",
    ),
    Method(
        "mondrian-strict",
        mondrian_strict,
        doc="As mondrian-ordered, with categories in an arbitrary order, drawn with the seed: a control.",
        source="Veltmann 2022",
        cost="O(d m log m) a level for m distinct records",
        options=(_PERSIST,),
        kinds=EVERY_KIND,
        records=QuasiIdentifiers.counted,
    ),
    Method(
        "mondrian-ordered",
        mondrian_ordered,
        doc="Cuts along the column farthest from its centroid, at the centroid; categories in post-order.",
        source="Veltmann 2022",
        cost="O(d m log m) a level for m distinct records",
        options=(_PERSIST, _TRAVERSAL),
        kinds=EVERY_KIND,
        records=QuasiIdentifiers.counted,
    ),
    Method(
        "sa-mondrian",
        sa_mondrian,
        doc="As mondrian-ordered, cut between the neighbouring values that are farthest apart in meaning.",
        source="Veltmann 2022",
        cost="O(d m log m) a level for m distinct records",
        options=(_PERSIST, _TRAVERSAL),
        kinds=EVERY_KIND,
        records=QuasiIdentifiers.counted,
    ),
)
