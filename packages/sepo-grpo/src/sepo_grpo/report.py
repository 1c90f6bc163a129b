"""What a step leaves in `metrics.jsonl`: per-round means, how the policy looks, and which parts of the reward can teach."""

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sepo_games import ReadPolicy
from sepo_penalties import EpisodeBatch, Parts, Weights, group_report

from sepo_grpo.exact import Exploitation
from sepo_grpo.loss import MergedRows

Array = npt.NDArray[np.float64]


def step_log(
    batch: EpisodeBatch,
    parts: Parts,
    advantages: Array,
    exploitation: Exploitation,
    tables: Sequence[ReadPolicy],
    rows: MergedRows,
    weights: Weights,
) -> dict[str, float | None]:
    """Numbers of one game and step; payoff and penalties are per round and over the pool they belong to.

    `flat_groups` is the share of groups in which all rollouts have the same reward; `constant_*` the same for one part, over the groups of
    its pool; `share_*` the part's share of the reward's variance within groups (they add up to 1). `entropy` is the mean over information sets of
    the entropy of the action, in nats.
    """
    rounds = batch.rounds[0]

    def mean(values: Array, pool: str) -> float | None:
        chosen = batch.pool == pool
        return float(values[chosen].sum(axis=1).mean() / rounds) if chosen.any() else None

    decisions = batch.mask.sum()
    return {
        "payoff": mean(parts.payoff, "train"),
        "exploiter_surplus": mean(batch.others, "exploiter") - exploitation.reference  # type: ignore[operator]
        if (batch.pool == "exploiter").any()
        else None,
        "collusion": mean(parts.collusion, "collusive"),
        "externality": mean(parts.externality, "train"),
        "invalid_share": float(batch.invalid.sum() / decisions),
        "surplus": exploitation.surplus,
        "exploitability": exploitation.exploitability,
        "gate": float(exploitation.gate),
        "advantage_sd": float(advantages[batch.mask].std()),
        "flat_share": float((np.abs(advantages[batch.mask]) < 1e-12).mean()),
        "canonical_mass": float(min(table.mass.min() for table in tables)) if tables else None,
        "entropy": entropy(tables) if tables else None,
        "rows": float(len(rows.rows)),
        "lambda_exploitability": weights.exploitability,
        "lambda_collusion": weights.collusion,
        "lambda_externality": weights.externality,
        **teaching(batch, parts, weights),
    }


def entropy(tables: Sequence[ReadPolicy]) -> float:
    """Mean over all information sets of the entropy of the action played, in nats."""
    probs = np.concatenate([table.probs for table in tables])
    return float(-(probs * np.log(np.where(probs > 0, probs, 1.0))).sum(axis=1).mean())


POOL_OF = {"payoff": "train", "externality": "train", "exploitability": "exploiter", "collusion": "collusive"}


def teaching(batch: EpisodeBatch, parts: Parts, weights: Weights) -> dict[str, float | None]:
    """Which parts can teach, after `sepo_penalties.group_report`, each among the groups of its own pool."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the numbers are logged; a warning a step would drown them
        shares = {part.name: part.variance_share for part in group_report(parts, batch.group, weights=weights).parts}
    found: dict[str, float | None] = {}
    for name, pool in POOL_OF.items():
        chosen = batch.pool == pool
        constant = flat(getattr(parts, name)[chosen].sum(axis=1), batch.group[chosen]) if chosen.any() else None
        found[f"constant_{name}"] = constant
        found[f"share_{name}"] = None if np.isnan(shares[name]) else shares[name] + 0.0
    return {"flat_groups": flat(parts.total.sum(axis=1), batch.group)} | found


def flat(values: Array, groups: npt.NDArray[np.int64]) -> float:
    """Share of groups in which all values are equal up to rounding."""
    _, index = np.unique(groups, return_inverse=True)
    most, least = np.full(index.max() + 1, -np.inf), np.full(index.max() + 1, np.inf)
    np.maximum.at(most, index, values)
    np.minimum.at(least, index, values)
    return float((most - least <= 1e-9 * (1 + np.abs(most))).mean())
