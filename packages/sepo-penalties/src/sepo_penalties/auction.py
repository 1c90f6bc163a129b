"""First-price sealed-bid auction of one object with independent private values.

An action is a bidding rule: one bid for each value. Payoffs are expectations over values and ties; the
outsider is the seller, who gets the price. The tie rule changes the equilibria, so it is a parameter.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from sepo_penalties.benchmarks import MAX_CELLS, Array, Benchmark, grid_benchmark

TIES = ("coin", "no_sale", "first")
PASS = 0.0


def sale(values: Sequence[float], bids: Sequence[float], tie: str = "coin", clip: bool = False) -> tuple[Array, float]:
    """Tie-averaged payoffs of the bidders and the seller's revenue. A bid of `PASS` (0) stays out.

    Args:
        values: One for each bidder.
        bids: One for each bidder.
        tie: `coin` splits evenly in expectation, `no_sale` sells nothing, `first` serves the lowest index.
        clip: The winner gets max(0, value - bid) and the seller min(bid, value).

    Raises:
        ValueError: If the tie rule is unknown or the lengths differ.
    """
    if tie not in TIES:
        raise ValueError(f"tie = {tie!r} is not allowed: choose from {', '.join(TIES)}")
    if len(values) != len(bids):
        raise ValueError(f"{len(values)} values and {len(bids)} bids: as many of each are needed")
    best = max(bids)
    winners = [i for i, bid in enumerate(bids) if bid == best and bid != PASS]
    if tie == "first":
        winners = winners[:1]
    payoffs, revenue = np.zeros(len(bids)), 0.0
    if not winners or (tie == "no_sale" and len(winners) > 1):
        return payoffs, revenue
    for i in winners:
        paid = min(best, values[i]) if clip else best
        payoffs[i] = (values[i] - paid) / len(winners)
        revenue += paid / len(winners)
    return payoffs, revenue


def first_price_auction(
    values: Sequence[float] = (2, 4),
    bids: Sequence[float] = (1, 2, 3),
    tie: str = "coin",
    bidders: int = 2,
    probabilities: Sequence[float] | None = None,
    may_pass: bool = False,
    clip: bool = False,
) -> Benchmark:
    """Benchmark over all pure bidding rules; labels are tuples of bids, in the order of `values`.

    Args:
        values: Possible values, the same and independent for every bidder.
        bids: Allowed bids, above 0.
        tie: See `sale`.
        bidders: Two or more.
        probabilities: Of the values; uniform by default.
        may_pass: Whether a bidder may stay out, written as a bid of 0.
        clip: See `sale`.

    Raises:
        ValueError: If bids or probabilities are wrong, or there are too many rules.
    """
    weights = np.full(len(values), 1 / len(values)) if probabilities is None else np.asarray(probabilities, float)
    if weights.shape != (len(values),) or not (weights >= 0).all() or abs(weights.sum() - 1) > 1e-9:
        raise ValueError(f"probabilities {weights.tolist()}: {len(values)} numbers of at least 0 that sum to 1 needed")
    allowed = _allowed(bids, may_pass)
    rules = tuple(product(allowed, repeat=len(values)))
    shape = (len(rules),) * bidders
    if bidders < 2 or bidders * len(rules) ** bidders > MAX_CELLS // 40:
        raise ValueError(f"{bidders} bidders with {len(rules)} rules each: take 2 or more bidders and fewer bids")
    payoffs, revenue = np.zeros((bidders, *shape)), np.zeros((1, *shape))
    grids = np.indices(shape)
    choice = np.array([[allowed.index(bid) for bid in rule] for rule in rules])
    for types in product(range(len(values)), repeat=bidders):
        table = np.empty((bidders + 1, *(len(allowed),) * bidders))
        for cell in np.ndindex(*table.shape[1:]):
            won, price = sale([values[k] for k in types], [allowed[c] for c in cell], tie, clip)
            table[(slice(None), *cell)] = [*won, price]
        weight = float(np.prod(weights[list(types)]))
        chosen = table[(slice(None), *(choice[grids[i], k] for i, k in enumerate(types)))]
        payoffs += weight * chosen[:-1]
        revenue += weight * chosen[-1:]
    return grid_benchmark(rules, payoffs, revenue)


def known_value_auction(
    values: Sequence[float],
    bids: Sequence[float] = (1, 2, 3),
    tie: str = "coin",
    may_pass: bool = False,
    clip: bool = False,
) -> Benchmark:
    """Benchmark where all bidders know all values, one value for each bidder; labels are bids."""
    allowed = _allowed(bids, may_pass)
    table = np.empty((len(values) + 1, *(len(allowed),) * len(values)))
    for cell in np.ndindex(*table.shape[1:]):
        won, price = sale(values, [allowed[c] for c in cell], tie, clip)
        table[(slice(None), *cell)] = [*won, price]
    return grid_benchmark(allowed, table[:-1], table[-1:])


def _allowed(bids: Sequence[float], may_pass: bool) -> tuple[float, ...]:
    if len(bids) < 1 or min(bids) <= 0 or len(set(bids)) != len(bids):
        raise ValueError(f"bids {list(bids)}: distinct numbers above 0 are needed")
    return (PASS, *bids) if may_pass else tuple(bids)
