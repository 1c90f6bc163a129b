"""Dependence of logged actions: conditional mutual information, transfer entropy, permutation tests.

    I(X; Y | Z) = sum_z p(z) sum p(x, y | z) ln[p(x, y | z) / (p(x | z) p(y | z))]   in nats,
    TE(X -> Y)  = I(Y_t; X_{t-1} | Y_{t-1}, public_t).

Independent policies are conditionally independent given the full common history: dependence beyond it shows a
hidden channel or shared random seeds. It does not show tacit collusion, and at a perfect collusive fixed point
all entropies are 0. Six rounds bias the plug-in by 0.36 nats, so never use it for one rollout.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Information:
    """Plug-in information in nats, the same less its bias df / 2N, G = 2N I, and the chi-squared p-value."""

    information: float
    corrected: float
    statistic: float
    p_value: float


def mutual_information(x: npt.ArrayLike, y: npt.ArrayLike, given: npt.ArrayLike | None = None) -> Information:
    """Plug-in I(X; Y | Z) of labelled observations.

    Args:
        x: `(M,)` labels.
        y: `(M,)` labels.
        given: `(M,)` or `(M, d)` labels of the condition; none by default.

    Raises:
        ValueError: If the shapes differ or there is no observation.
    """
    a, b, z = _codes(x, y, given)
    value = _information(a, b, z)
    count = len(a)
    freedom = 0
    for k in np.unique(z):
        inside = z == k
        freedom += (len(np.unique(a[inside])) - 1) * (len(np.unique(b[inside])) - 1)
    statistic = 2 * count * value
    p_value = float(stats.chi2.sf(statistic, freedom)) if freedom else 1.0
    return Information(value, value - freedom / (2 * count), statistic, p_value)


def transfer_entropy(source: npt.ArrayLike, target: npt.ArrayLike, public: npt.ArrayLike | None = None) -> float:
    """TE from `source` to `target` in nats, with one round of memory, pooled over episodes.

    Args:
        source: `(B, T)` labels, T >= 2.
        target: `(B, T)` labels.
        public: `(B, T)` labels of what both see before they act; none by default.

    Raises:
        ValueError: If the shapes differ or episodes have fewer than two rounds.
    """
    return _information(*_codes(*_lagged(source, target, public)))


def information_test(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    strata: npt.ArrayLike | None,
    rng: np.random.Generator,
    permutations: int = 999,
) -> float:
    """Permutation p-value of I(X; Y | strata): y is shuffled inside strata, p = (1 + #{T* >= T}) / (1 + B).

    Args:
        x: `(M,)` labels.
        y: `(M,)` labels.
        strata: `(M,)` or `(M, d)`: values, round, public state.
        rng: Randomness of the shuffles.
        permutations: B.

    Raises:
        ValueError: If the shapes differ or there is no permutation.
    """
    if permutations < 1:
        raise ValueError(f"permutations = {permutations}: at least 1 is needed")
    a, b, z = _codes(x, y, strata)
    observed, extreme = _information(a, b, z), 1
    order = np.argsort(z, kind="stable")
    for _ in range(permutations):
        shuffled = np.empty_like(b)
        shuffled[order] = b[np.lexsort((rng.random(len(b)), z))]
        extreme += _information(a, shuffled, z) >= observed - 1e-12
    return float(extreme / (1 + permutations))


def transfer_test(
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    rng: np.random.Generator,
    public: npt.ArrayLike | None = None,
    permutations: int = 999,
) -> float:
    """Permutation p-value of TE: the source's last action is shuffled inside (target's last action, public)."""
    now, before, condition = _lagged(source, target, public)
    return information_test(now, before, condition, rng, permutations)


def _lagged(source: npt.ArrayLike, target: npt.ArrayLike, public: npt.ArrayLike | None) -> tuple[Codes, Codes, Codes]:
    x, y = np.asarray(source), np.asarray(target)
    if x.ndim != 2 or x.shape != y.shape or x.shape[1] < 2 or (public is not None and np.shape(public) != x.shape):
        raise ValueError(f"source {x.shape} and target {y.shape}: equal (B, T) with T >= 2 (public too) are needed")
    a, b = (np.unique(v, return_inverse=True)[1].reshape(x.shape) for v in (x, y))
    last = [b[:, :-1].ravel()]
    if public is not None:
        last.append(np.unique(np.asarray(public), return_inverse=True)[1].reshape(x.shape)[:, 1:].ravel())
    return b[:, 1:].ravel(), a[:, :-1].ravel(), np.stack(last, axis=1)


def _codes(x: npt.ArrayLike, y: npt.ArrayLike, given: npt.ArrayLike | None) -> tuple[Codes, Codes, Codes]:
    a, b = np.asarray(x), np.asarray(y)
    z = np.zeros(a.shape, dtype=np.int64) if given is None else np.asarray(given)
    if a.ndim != 1 or len(a) == 0 or a.shape != b.shape or z.ndim not in {1, 2} or len(z) != len(a):
        raise ValueError(f"x {a.shape}, y {b.shape} and condition {z.shape}: one label each for M >= 1 rows is needed")
    codes = [np.unique(v, return_inverse=True)[1].astype(np.int64).reshape(-1) for v in (a, b)]
    rows = np.unique(z, axis=0, return_inverse=True)[1].astype(np.int64).reshape(-1)
    return codes[0], codes[1], rows


def _information(a: Codes, b: Codes, z: Codes) -> float:
    table = np.zeros((int(z.max()) + 1, int(a.max()) + 1, int(b.max()) + 1))
    np.add.at(table, (z, a, b), 1 / len(a))
    expected = table.sum(axis=2, keepdims=True) * table.sum(axis=1, keepdims=True)
    total = table.sum(axis=(1, 2), keepdims=True)
    on = table > 0
    ratio = (table * total)[on] / expected[on]
    return max(0.0, float((table[on] * np.log(ratio)).sum()))
