"""Antitrust screens of the bids in one auction, sorted b_1 <= .. <= b_n (procurement: the lowest wins).

    CV = s / mean                  SPD = (b_n - b_1) / b_1          DIFFP = (b_2 - b_1) / b_1
    RD = (b_2 - b_1) / s(b_2..b_n)        RDNOR, RDALT = (b_2 - b_1) over the mean gap of all, of losing bids
    SKEW, KURT bias-corrected      KS = max_k |(b_k - b_1) / (b_n - b_1) - k / (n + 1)|

s is the sample standard deviation (ddof 1). For selling auctions pass values minus bids. Below its least
number of bids (2; RD, RDALT, SKEW 3; KURT 4) a screen is NaN; where all bids are equal CV is 0 and the rest NaN.
They are descriptive: in a ring of buyers the variance screen has the wrong sign, so never train on them.
Source: Imhof, Karagoek and Rutz 2018.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from sepo_penalties.benchmarks import Array


@dataclass(frozen=True)
class Screens:
    """`(...)` one number for each auction; NaN where the screen is not defined."""

    cv: Array
    spd: Array
    diffp: Array
    rd: Array
    rdnor: Array
    rdalt: Array
    skew: Array
    kurt: Array
    ks: Array


def bid_screens(bids: npt.ArrayLike) -> Screens:
    """All screens of each auction.

    Args:
        bids: `(..., n)` bids above 0, in any order, n >= 2.

    Raises:
        ValueError: If there are fewer than two bids, or one is not finite or not above 0.
    """
    b = np.sort(np.asarray(bids, dtype=np.float64), axis=-1)
    if b.ndim < 1 or b.shape[-1] < 2 or not (np.isfinite(b) & (b > 0)).all():
        raise ValueError(f"bids have shape {b.shape}: finite numbers above 0, at least two an auction, are needed")
    n, missing = b.shape[-1], np.full(b.shape[:-1], np.nan)
    gaps, sd = np.diff(b, axis=-1), b.std(axis=-1, ddof=1)
    first, spread = gaps[..., 0], b[..., -1] - b[..., 0]
    equal = spread == 0

    def over(top: Array, bottom: Array) -> Array:
        # Rounding leaves a tiny spread where equal numbers are averaged.
        tiny = equal | (bottom <= 1e-12 * b[..., -1])
        return np.where(tiny, np.nan, top / np.where(tiny, 1.0, bottom))

    scaled = _unit(b, spread)
    moments = [missing, missing]
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(equal[..., None], np.arange(n, dtype=np.float64), b)
        if n >= 3:
            moments[0] = np.where(equal, np.nan, stats.skew(z, axis=-1, bias=False))
        if n >= 4:
            moments[1] = np.where(equal, np.nan, stats.kurtosis(z, axis=-1, bias=False))
    return Screens(
        cv=np.where(equal, 0.0, sd / b.mean(axis=-1)),
        spd=over(spread, b[..., 0]),
        diffp=over(first, b[..., 0]),
        rd=over(first, b[..., 1:].std(axis=-1, ddof=1)) if n >= 3 else missing,
        rdnor=over(first, gaps.mean(axis=-1)),
        rdalt=over(first, gaps[..., 1:].mean(axis=-1)) if n >= 3 else missing,
        skew=moments[0],
        kurt=moments[1],
        ks=np.abs(scaled - np.arange(1, n + 1) / (n + 1)).max(axis=-1),
    )


def conditional_independence(correlation: float, n: int) -> tuple[float, float]:
    """Bajari and Ye's test of uncorrelated residuals of two bidders: z = atanh(r) sqrt(n - 3), two-sided p.

    It had no power on a proven cartel: read it next to the other legs.

    Raises:
        ValueError: If r is not in (-1, 1) or n < 4.
    """
    if not -1 < correlation < 1 or n < 4:
        raise ValueError(f"correlation = {correlation}, n = {n}: (-1, 1) and at least 4 are needed")
    z = float(np.arctanh(correlation) * np.sqrt(n - 3))
    return z, float(2 * stats.norm.sf(abs(z)))


def _unit(b: Array, spread: Array) -> Array:
    wide = np.where(spread == 0, 1.0, spread)[..., None]
    return np.where((spread == 0)[..., None], np.nan, (b - b[..., :1]) / wide)
