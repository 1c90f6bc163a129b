"""One line of a result table, as it stands in `summary.json`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Kind = Literal["exact", "interval", "lower"]


class Row(BaseModel):
    """What was measured about one policy in one game. Payoffs are per round (or hand); `None` is: not applicable.

    `<key>_low` and `<key>_high` are 95 % bounds and are `None` where the value is exact.

    Attributes:
        game: Registry name of the game.
        row: `base`, `sft`, `sepo` or the name of a scripted strategy.
        payoff: Mean payoff against the train pool.
        exploitability: NashConv / 2 of the policy, both seats; only in two-player zero-sum games.
        exploitability_kind: How `exploitability` and `opponent_surplus` are known: `exact` from the policy at every information set, `interval` from
            sampled replies, or `lower`: what the best response to the policy's projection won in play, a lower bound.
        opponent_surplus: max_b u_opponent(b, policy) minus the game's reference payoff, signed, mean over seats.
        pool_advantage: Mean over the scripted exploiters of max(0, opponent's payoff - own payoff).
        collusion: Mean C_i against the collusive pool; only in games with outsiders.
        externality: Mean E_i against the train pool; not in zero-sum games, where it is identically 0.
        invalid_share: Share of decisions whose first reply was rejected by the parser.
        n: Episodes played.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: str
    row: str
    payoff: float
    payoff_low: float | None = None
    payoff_high: float | None = None
    exploitability: float | None = None
    exploitability_low: float | None = None
    exploitability_high: float | None = None
    exploitability_kind: Kind | None = None
    opponent_surplus: float | None = None
    opponent_surplus_low: float | None = None
    opponent_surplus_high: float | None = None
    pool_advantage: float | None = None
    pool_advantage_low: float | None = None
    pool_advantage_high: float | None = None
    collusion: float | None = None
    collusion_low: float | None = None
    collusion_high: float | None = None
    externality: float | None = None
    externality_low: float | None = None
    externality_high: float | None = None
    invalid_share: float | None = None
    invalid_share_low: float | None = None
    invalid_share_high: float | None = None
    n: int
