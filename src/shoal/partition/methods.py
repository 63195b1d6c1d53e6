"""All partition methods: the records of a block to groups of at least k.

To add one: write its function in a module here, add it to ``METHODS``, write its page in ``docs/methods``.
The tests of promises run on every entry.
"""

from __future__ import annotations

from shoal.columns.quasi_identifiers import QuasiIdentifiers
from shoal.errors import PlanError, did_you_mean
from shoal.partition.categorical import CATEGORICAL
from shoal.partition.dbfs import dbfs
from shoal.partition.density import hdf, ldf
from shoal.partition.fuzzy_c_means import fuzzy_c_means
from shoal.partition.iv_mdav import iv_mdav
from shoal.partition.k_ward import k_ward
from shoal.partition.mdav import mdav, mdav_single
from shoal.partition.method import SEARCH_OPTIONS, Method, Option
from shoal.partition.mst import mst
from shoal.partition.optimal import optimal, search_numbers
from shoal.partition.p_sensitive import p_sensitive
from shoal.partition.paths import cbfs_mhm, md_mhm, mdav_mhm, npn_mhm
from shoal.partition.t_closeness import k_first, t_first, t_merge
from shoal.partition.tfrp import tfrp
from shoal.partition.tsp import tsp_hm
from shoal.partition.two_step_ga import two_step_ga
from shoal.partition.univariate import individual_ranking, univariate
from shoal.partition.v_mdav import v_mdav

__all__ = ["METHODS", "Method", "Option", "find_method"]


def find_method(name: str) -> Method:
    """Return a method by its name, or raise PlanError with the nearest one.

    >>> find_method("mdav").source
    'Domingo-Ferrer & Torra 2005'
    """
    if name not in METHODS:
        raise PlanError(f"there is no method '{name}'{did_you_mean(name, METHODS)} (there are {', '.join(METHODS)})")
    return METHODS[name]


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "optimal",
            optimal,
            doc="The least loss that a search finds: simulated annealing, crossover and set partitioning.",
            source="this project; see its page",
            cost="O(d) a step, after MDAV",
            options=SEARCH_OPTIONS,
            exclusive=(("steps", "time"), ("gap", "bound")),
            search=search_numbers,
        ),
        Method(
            "mdav",
            mdav,
            doc="Two groups of k a round, round the record farthest from the centroid and the one farthest from that.",
            source="Domingo-Ferrer & Torra 2005",
            cost="O(d n^2 / k)",
        ),
        Method(
            "mdav-single",
            mdav_single,
            doc="One group of k a round, round the record farthest from the centroid of what remains (CBFS).",
            source="Laszlo & Mukherjee 2005",
            cost="O(d n^2 / k)",
        ),
        Method(
            "v-mdav",
            v_mdav,
            doc="Groups of k or more, extended while the next record is closer to the group than to the others.",
            source="Solanas & Martinez-Balleste 2006",
            cost="O(d n^2)",
            options=(
                Option(
                    "gamma",
                    "how readily groups grow: 0.2 for scattered data, 1.1 for clusters",
                    0.2,
                    float,
                    least=0,
                ),
            ),
        ),
        Method(
            "iv-mdav",
            iv_mdav,
            doc="MDAV-single with groups of k or more, extended by neighbours that are isolated from the rest.",
            source="Rawat & Borah",
            cost="O(d n^2)",
            options=(
                Option(
                    "gamma",
                    "how isolated a neighbour must be to join; lower lets more in",
                    1.16,
                    float,
                    least=0,
                ),
                Option(
                    "candidates",
                    "neighbours looked at, in multiples of k (2, or 3 as the paper proposes)",
                    2,
                    int,
                    least=2,
                    most=3,
                ),
                Option(
                    "outlier",
                    "no extension round a record whose k-th neighbour is this many times as far as is usual near it",
                    None,
                    float,
                    least=0,
                ),
                Option(
                    "cap",
                    "stop at 2k - 1 records, as the paper's text asks and its figures do not",
                    False,
                    bool,
                ),
            ),
        ),
        Method(
            "ldf",
            ldf,
            doc="Low density first: the sparsest group of k nearest records is taken first.",
            source="Wen, Lin & Wang",
            cost="O(k d n^2)",
        ),
        Method(
            "hdf",
            hdf,
            doc="High density first: the densest group of k nearest records is taken first.",
            source="Wen, Lin & Wang",
            cost="O(k d n^2)",
        ),
        Method(
            "dbfs",
            dbfs,
            doc="Two groups of k a round, round the two remaining records that are farthest apart.",
            source="Mateo-Sanz & Domingo-Ferrer 1999",
            cost="O(d n^2 / k) in practice",
        ),
        Method(
            "tfrp",
            tfrp,
            doc="Groups of k round the records farthest from two fixed points; groups that do not pay are dissolved.",
            source="Chang, Li & Huang 2007",
            cost="O(d n^2 / k)",
            options=(Option("dissolve", "second phase: dissolve groups where that lowers the loss", True, bool),),
        ),
        Method(
            "npn-mhm",
            npn_mhm,
            doc="The optimal cut of a path that always goes to the nearest record not yet visited.",
            source="Domingo-Ferrer et al. 2006",
            cost="O(d n^2)",
        ),
        Method(
            "md-mhm",
            md_mhm,
            doc="The optimal cut of a path through the groups of dbfs (maximum distance).",
            source="Domingo-Ferrer et al. 2006",
            cost="O(d n^2 / k) in practice",
        ),
        Method(
            "mdav-mhm",
            mdav_mhm,
            doc="The optimal cut of a path through the groups of mdav.",
            source="Domingo-Ferrer et al. 2006",
            cost="O(d n^2 / k)",
        ),
        Method(
            "cbfs-mhm",
            cbfs_mhm,
            doc="The optimal cut of a path through the groups of mdav-single (centroid-based fixed size).",
            source="Domingo-Ferrer et al. 2006",
            cost="O(d n^2 / k)",
        ),
        Method(
            "tsp-hm",
            tsp_hm,
            doc="The optimal cut of a short closed tour through all records.",
            source="Heaton & Mukherjee 2011",
            cost="O(d n^2)",
        ),
        Method(
            "mst",
            mst,
            doc="The minimum spanning tree, cut at its longest edges; parts that remain large are cut by a heuristic.",
            source="Laszlo & Mukherjee 2005",
            cost="O(d n^2)",
            options=(
                Option(
                    "large",
                    "parts of 2k records or more: cut by dbfs (M-d), by mdav-single (M-c), or kept",
                    "diameter",
                    str,
                    choices=("diameter", "centroid", "keep"),
                ),
            ),
        ),
        Method(
            "k-ward",
            k_ward,
            doc="Ward's hierarchical clustering until every group has k, again within groups of 2k or more.",
            source="Domingo-Ferrer & Mateo-Sanz 2002",
            cost="O(d n^2)",
        ),
        Method(
            "fuzzy-c-means",
            fuzzy_c_means,
            doc="Fuzzy c-means, again within clusters of 2k or more; its centres keep linear constraints.",
            source="Torra & Miyamoto 2004; Torra 2009",
            cost="O(c d n log n / log c) for c clusters a level",
            options=(
                Option("fuzziness", "exponent m of the memberships; near 1 is crisp", 1.2, float, least=1.01, most=10),
                Option("clusters", "most clusters that a part is divided into at a time", 10, int, least=2, most=1000),
            ),
        ),
        Method(
            "two-step-ga",
            two_step_ga,
            doc="MDAV, then a genetic algorithm within parts of several groups; depends on the seed.",
            source="Martinez-Balleste et al. 2007",
            cost="O(d n^2 / k + p g d n) for p chromosomes and g generations",
            options=(
                Option("part", "groups of MDAV in a part that the genetic algorithm sees", 5, int, least=2),
                Option("population", "chromosomes of a generation", 20, int, least=2),
                Option("generations", "generations of each part", 200, int, least=1),
            ),
        ),
        Method(
            "univariate",
            univariate,
            doc="The optimal cut of the records sorted by one column or a projection: exact for one column.",
            source="Hansen & Mukherjee 2003",
            cost="O(n log n + k d n)",
            options=(
                Option(
                    "by",
                    "order of several columns: first principal component or sum",
                    "pca",
                    str,
                    choices=("pca", "sum"),
                ),
            ),
            several_columns=("by",),
            records=QuasiIdentifiers.ordered,
        ),
        Method(
            "individual-ranking",
            individual_ranking,
            doc="Each column by itself, in runs of k of its sorted values; k holds for each column only.",
            source="Defays & Nanopoulos 1993",
            cost="O(d n log n)",
            options=(Option("optimal", "cut each column optimally instead of in runs of k", False, bool),),
            by_column=True,
            records=QuasiIdentifiers.ordered,
        ),
        Method(
            "t-merge",
            t_merge,
            doc="MDAV, then the group farthest from the table in a confidential column is merged with its nearest.",
            source="Soria-Comas et al. 2015",
            cost="O(d n^2 / k)",
            needs="t",
        ),
        Method(
            "k-first",
            k_first,
            doc="The k nearest to MDAV's seeds, exchanged for farther ones while they are too far from the table.",
            source="Soria-Comas et al. 2015",
            cost="O(d n^2 / k + k^2 n^2)",
            needs="t",
        ),
        Method(
            "t-first",
            t_first,
            doc="One record of each stratum of a confidential column, the nearest to MDAV's seeds.",
            source="Soria-Comas et al. 2015",
            cost="O(d n^2 / k)",
            needs="t",
        ),
        Method(
            "p-sensitive",
            p_sensitive,
            doc="MDAV-single whose groups take the nearest records of p different confidential values first.",
            source="Truta & Vinay 2006, Solanas et al. 2008",
            cost="O(d n^2 / k)",
            needs="distinct",
        ),
        *CATEGORICAL,
    )
}
