"""Enforcement leg: what follows a forced deviation (impulse response).

Play runs twice with the same seeds: as the policies like, and with one player forced to another action for a
few rounds from round t0. With u the deviator's payoffs,

    gain g = u_dev(t0) - u_on(t0),   punishment P = sum_{t > t0} delta^(t - t0) (u_on(t) - u_dev(t)).

P >= g means that the deviation did not pay. Reaction is not always punishment: price matching is competitive.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sepo_penalties.benchmarks import Array

History = tuple[tuple[int, ...], ...]
Policy = Callable[[History, np.random.Generator], int]


@dataclass(frozen=True)
class ImpulseResponse:
    """One entry for each seed; rounds count from 0.

    Attributes:
        gain: `(S,)` the deviator's one-shot gain.
        punishment: `(S,)` discounted loss afterwards.
        ratio: Mean punishment over mean gain; 0/0 := 0, and NaN where only the gain is 0 or it is negative.
        reaction: `(S,)` change of the rivals' actions, summed, in the round after t0.
        recovery: `(S,)` rounds after t0 until all actions are back for good; NaN if never.
        deterred: Share of seeds with punishment >= gain.
        on_path: `(S, T, N)` actions without the deviation.
        deviated: `(S, T, N)` actions with it.
    """

    gain: Array
    punishment: Array
    ratio: float
    reaction: Array
    recovery: Array
    deterred: float
    on_path: npt.NDArray[np.int64]
    deviated: npt.NDArray[np.int64]


def impulse_response(
    payoffs: npt.ArrayLike,
    policies: Sequence[Policy],
    player: int,
    at: int,
    rounds: int,
    action: int | None = None,
    length: int = 1,
    discount: float = 1.0,
    levels: npt.ArrayLike | None = None,
    tolerance: float = 0.0,
    seeds: Sequence[int] = (0,),
) -> ImpulseResponse:
    """Forces `player` for `length` rounds from round `at` and compares with undisturbed play.

    Args:
        payoffs: `(N, a_1, .., a_N)` stage game.
        policies: One for each player: history of joint actions and a generator in, action out. The generator
            of a round is the same in both runs.
        player: The deviator.
        at: Round of the deviation, from 0; leave rounds after it, or nothing can be punished.
        rounds: Rounds in all.
        action: What is played instead; by default the static best reply to the others' undisturbed actions.
        length: Rounds that are forced.
        discount: Per round, in (0, 1].
        levels: `(A,)` number behind each action (a price) for reaction and recovery; the index by default.
        tolerance: Actions this close in level count as recovered.
        seeds: One pair of runs each.

    Raises:
        ValueError: If an argument is out of range or a policy plays an action that does not exist.
    """
    u = np.asarray(payoffs, dtype=np.float64)
    n = len(policies)
    if u.shape[:1] != (n,) or u.ndim != n + 1 or not np.isfinite(u).all():
        raise ValueError(f"payoffs have shape {u.shape}: finite (N, a_1, .., a_N) for {n} policies is needed")
    if not 0 <= player < n or not 0 <= at < rounds - 1 or not 1 <= length <= rounds - at or not seeds:
        raise ValueError(
            f"player = {player}, at = {at}, rounds = {rounds}, length = {length}: an existing player, a round before "
            "the last, a length that fits and at least one seed are needed"
        )
    if not 0 < discount <= 1 or (action is not None and not 0 <= action < u.shape[1 + player]):
        raise ValueError(f"discount = {discount}, action = {action}: use (0, 1] and an action of the game")
    scale = np.arange(max(u.shape[1:]), dtype=np.float64) if levels is None else np.asarray(levels, dtype=np.float64)
    if scale.shape != (max(u.shape[1:]),):
        raise ValueError(f"levels have shape {scale.shape}: {(max(u.shape[1:]),)} is needed")

    def run(seed: int, forced: dict[int, int]) -> npt.NDArray[np.int64]:
        history: History = ()
        for t in range(rounds):
            joint = []
            for i, policy in enumerate(policies):
                # The generator is drawn for forced rounds too, so both runs share every coin.
                chosen = policy(history, np.random.default_rng([seed, t, i]))
                if i == player and t in forced:
                    chosen = forced[t]
                if not 0 <= chosen < u.shape[1 + i]:
                    raise ValueError(f"policy {i} played {chosen} in round {t}: 0 to {u.shape[1 + i] - 1} exist")
                joint.append(int(chosen))
            history = (*history, tuple(joint))
        return np.array(history, dtype=np.int64)

    on, off = [], []
    for seed in seeds:
        path = run(seed, {})
        replies = u[player][tuple(slice(None) if i == player else int(a) for i, a in enumerate(path[at]))]
        shock = int(np.argmax(replies)) if action is None else action
        on.append(path)
        off.append(run(seed, dict.fromkeys(range(at, at + length), shock)))
    on_path, deviated = np.stack(on), np.stack(off)
    earned = [u[player][tuple(np.moveaxis(x, -1, 0))] for x in (on_path, deviated)]
    difference = earned[0] - earned[1]
    gain = -difference[:, at]
    punishment = difference[:, at + 1 :] @ discount ** np.arange(1, rounds - at)
    moved = scale[deviated] - scale[on_path]
    away = np.abs(moved[:, at:]).max(axis=2) > tolerance
    last = np.where(away.any(axis=1), away.shape[1] - np.argmax(away[:, ::-1], axis=1), 0)
    return ImpulseResponse(
        gain=gain,
        punishment=punishment,
        ratio=_ratio(float(punishment.mean()), float(gain.mean())),
        reaction=np.delete(moved[:, at + 1], player, axis=1).sum(axis=1),
        recovery=np.where(last < away.shape[1], last, np.nan).astype(np.float64),
        deterred=float((punishment >= gain - 1e-12).mean()),
        on_path=on_path,
        deviated=deviated,
    )


def _ratio(punishment: float, gain: float) -> float:
    if gain > 1e-12:
        return punishment / gain
    return 0.0 if abs(gain) <= 1e-12 and abs(punishment) <= 1e-12 else float("nan")
