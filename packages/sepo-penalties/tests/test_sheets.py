"""Collusion and externality on games whose numbers are known, and values of repeated play."""

from itertools import product

import numpy as np
import pytest
from sepo_penalties import (
    EpisodeBatch,
    RepeatedGame,
    SepoReward,
    Weights,
    collusion,
    externality,
    group_advantages,
    repeated_best_response,
    repeated_value,
)

VALUES = (2, 4)
COMPETITIVE = (1, 2)


def sale(values, bids):
    """Tie-averaged payoffs of both bidders and the seller."""
    share = 1.0 if bids[0] > bids[1] else 0.5 if bids[0] == bids[1] else 0.0
    return (share * (values[0] - bids[0]), (1 - share) * (values[1] - bids[1])), (float(max(bids)),)


def batch_of(ledgers, pool):
    """One-step episodes; each ledger is ((players), (outsiders)) for expected, benchmark and harmless."""
    size = len(ledgers)
    arrays = {}
    for i, prefix in enumerate(("expected_", "benchmark_", "harmless_")):
        arrays[f"{prefix}payoffs"] = np.array([[line[i][0]] for line in ledgers], dtype=float)
        arrays[f"{prefix}outsiders"] = np.array([[line[i][1]] for line in ledgers], dtype=float)
    return EpisodeBatch(
        payoffs=arrays["expected_payoffs"],
        outsiders=arrays["expected_outsiders"],
        **arrays,
        mask=np.ones((size, 1), dtype=bool),
        invalid=np.zeros((size, 1), dtype=bool),
        segment=np.zeros((size, 1), dtype=int),
        learner=np.zeros(size, dtype=int),
        pool=np.full(size, pool),
        opponent=np.full(size, "x"),
        group=np.zeros(size, dtype=int),
        rounds=np.ones(size, dtype=int),
        outsiders_declared=True,
    )


def auction_batch(mine, theirs):
    """All four pairs of values, each once, so that means are over values."""
    ledgers = []
    for v, w in product((0, 1), repeat=2):
        values, answer = (VALUES[v], VALUES[w]), theirs[w]
        benchmark = sale(values, (COMPETITIVE[v], answer))
        ledgers.append((sale(values, (mine[v], answer)), benchmark, benchmark))
    return batch_of(ledgers, "collusive")


@pytest.mark.parametrize(
    ("mine", "theirs", "sheet"),
    [
        ((1, 1), (1, 1), (3 / 8, 1 / 2, 1 / 2, 1 / 4)),
        ((1, 1), (1, 2), (1 / 8, 3 / 8, 1 / 4, 1 / 4)),
        ((1, 1), (2, 2), (0, 1 / 4, 0, 1 / 4)),
        ((1, 2), (1, 1), (0, 0, 0, 0)),
        ((1, 2), (1, 2), (0, 0, 0, 0)),
        ((2, 3), (1, 1), (0, -1 / 2, -1, 1 / 4)),
        ((3, 3), (1, 2), (0, -7 / 8, -5 / 4, 1 / 2)),
    ],
    ids=str,
)
def test_collusion_gift_harm_and_externality_in_the_auction_are_those_of_the_sheet(mine, theirs, sheet):
    batch = auction_batch(mine, theirs)
    found = collusion(batch)
    means = [x.mean() for x in (found.collusion, found.gift, found.harm, externality(batch))]
    assert means == pytest.approx(sheet, abs=1e-12)


def test_the_reward_of_the_collusive_pool_is_minus_the_collusion():
    batch = auction_batch((1, 1), (1, 1))
    parts = SepoReward(Weights(collusion=2.0), 0.0)(batch)
    np.testing.assert_allclose(parts.total, -2 * collusion(batch).collusion)
    assert parts.total.mean() == pytest.approx(-3 / 4)


PD = {(0, 0): (3, 3), (0, 1): (0, 5), (1, 0): (5, 0), (1, 1): (1, 1)}


@pytest.mark.parametrize(("played", "cost"), [((0, 0), 0), ((0, 1), 0), ((1, 0), 1), ((1, 1), 0)])
def test_only_defecting_on_a_cooperator_is_an_externality_and_costs_one(played, cost):
    # Where the opponent defects the harmless action is the realised one: self-defence harms nobody wrongly.
    harmless = (0, played[1]) if played[1] == 0 else played
    ledger = tuple((PD[joint], ()) for joint in (played, played, harmless))
    batch = batch_of([ledger], "train")
    assert externality(batch)[0, 0] == cost
    parts = SepoReward(Weights(), 0.0)(batch)
    assert parts.total[0, 0] == PD[played][0] - cost


def test_a_mask_of_integers_is_refused_since_it_cannot_be_inverted():
    batch = auction_batch((1, 1), (1, 1))
    fields = {name: getattr(batch, name) for name in EpisodeBatch.__dataclass_fields__}
    with pytest.raises(ValueError, match="mask has type int64: bool is needed"):
        EpisodeBatch(**fields | {"mask": batch.mask.astype(np.int64)})
    with pytest.raises(ValueError, match="group has type float64: an integer type is needed"):
        EpisodeBatch(**fields | {"group": batch.group.astype(float)})


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"row_weights": np.array([1.0, np.nan])}, r"weight of row 1 \(group 7\) is nan"),
        ({"sd_floor": np.nan}, "sd_floor = nan is not allowed"),
        ({"eps": -1.0}, "eps = -1.0 is not allowed"),
        ({"baseline": "median"}, "baseline = 'median' is not allowed: choose from leave_one_out, mean, none"),
    ],
)
def test_advantages_never_come_from_bad_options(option, message):
    with pytest.raises(ValueError, match=message):
        group_advantages(np.array([1.0, 2.0]), np.array([7, 7]), **option)


def random_game(rng, rounds):
    return RepeatedGame.of(rng.normal(size=(2, 2, 3, 2, 3)), ([0.4, 0.6], [0.2, 0.3, 0.5]), rounds)


def random_table(rng, game, player, batch=()):
    return rng.dirichlet(np.ones(game.sizes(player)[1]), (*batch, game.num_infosets(player)))


def walked(game, tables):
    """Expected payoffs by walking every history with every type."""
    plays = [game.unpack(table, player) for player, table in enumerate(tables)]
    types, actions = game.payoffs.shape[1:3], game.payoffs.shape[3:5]

    def walk(t, last):
        if t == game.rounds:
            return np.zeros(2)
        places = (last[0] * actions[1] + last[1], last[1] * actions[0] + last[0]) if t else (0, 0)
        total = np.zeros(2)
        for k in product(*map(range, types)):
            for a in product(*map(range, actions)):
                weight = np.prod([game.type_probs[p][k[p]] * plays[p][t][places[p], k[p], a[p]] for p in (0, 1)])
                total += weight * (game.payoffs[:, k[0], k[1], a[0], a[1]] + walk(t + 1, a))
        return total

    return walk(0, None)


def test_the_value_of_repeated_play_is_the_sum_over_all_histories():
    rng = np.random.default_rng(0)
    game = random_game(rng, 2)
    tables = [random_table(rng, game, p) for p in (0, 1)]
    np.testing.assert_allclose(repeated_value(game, tables), walked(game, tables), atol=1e-12)


@pytest.mark.parametrize("responder", [0, 1])
def test_a_best_response_with_private_types_earns_its_value_and_no_other_table_earns_more(responder):
    rng = np.random.default_rng(1)
    game = random_game(rng, 4)
    policy = random_table(rng, game, 1 - responder)
    answer = repeated_best_response(game, policy, responder)

    def earned(own):
        tables = [own, policy] if responder == 0 else [policy, own]
        return repeated_value(game, tables)[..., responder]

    assert earned(answer.policy) == pytest.approx(float(answer.value), abs=1e-12)
    assert earned(random_table(rng, game, responder, (50,))).max() <= float(answer.value) + 1e-12


def test_a_batch_of_repeated_values_equals_a_loop():
    rng = np.random.default_rng(2)
    game = random_game(rng, 3)
    first, second = random_table(rng, game, 0, (3, 1)), random_table(rng, game, 1, (4,))
    batch = repeated_value(game, [first, second])
    assert batch.shape == (3, 4, 2)
    for i, j in product(range(3), range(4)):
        np.testing.assert_allclose(batch[i, j], repeated_value(game, [first[i, 0], second[j]]), atol=1e-12)


def test_a_responder_that_does_not_exist_is_refused():
    game = random_game(np.random.default_rng(3), 1)
    with pytest.raises(ValueError, match="player 2 does not exist"):
        repeated_best_response(game, np.ones((2, 2)), 2)
