"""Games of the workspace whose state is public are solved state by state."""

import numpy as np
import pytest
from sepo_games import get_game
from sepo_penalties import StochasticGame, best_replies, stochastic_best_response, surplus_intervals


def random_tables(game, seed):
    rng = np.random.default_rng(seed)
    tables = []
    for seat in (0, 1):
        table = {}
        for infoset in game.infosets(seat):
            row = np.zeros(game.num_actions)
            row[list(infoset.legal)] = rng.dirichlet(np.ones(len(infoset.legal)))
            table[infoset.key] = row
        tables.append(table)
    return tables


@pytest.mark.parametrize("seed", range(3))
def test_the_dilemma_has_the_same_best_responses_by_states_and_by_rounds(seed):
    game = get_game("ipd-v1")
    tables = random_tables(game, seed)
    states = StochasticGame.from_game(game)
    for seat, reply in enumerate(best_replies(game, tables)):
        value, policy = stochastic_best_response(states, tables[seat], seat, 2)
        assert value / 8 == pytest.approx(reply.value, abs=1e-12)
        assert policy == {key: tuple(row) for key, row in reply.policy.items()}


def test_a_dilemma_that_may_end_pays_a_defector_of_cooperators_for_the_rounds_to_be_expected():
    game = get_game("ipd-v1", continuation=0.5)
    always = [{i.key: (1.0, 0.0) for i in game.infosets(seat)} for seat in (0, 1)]
    expected_rounds = 2 - 2**-7
    for reply in best_replies(game, always):
        assert reply.value * game.rounds == pytest.approx(5 * expected_rounds, abs=1e-12)


def test_noise_spoils_a_tenth_of_the_choices_on_both_sides():
    game = get_game("ipd-v1", noise=0.1, rounds=1)
    always = [{i.key: (1.0, 0.0) for i in game.infosets(seat)} for seat in (0, 1)]
    # Defection against cooperation: 5 unless a flip makes it (D, D) 1, (C, C) 3 or (C, D) 0.
    for reply in best_replies(game, always):
        assert reply.value == pytest.approx(0.81 * 5 + 0.09 * 1 + 0.09 * 3, abs=1e-12)


@pytest.mark.parametrize("options", [{"noise": 0.05}, {"continuation": 0.9, "rounds": 5}])
def test_intervals_from_many_samples_close_in_on_the_exact_surplus(options):
    game = get_game("ipd-v1", **options)
    tables = random_tables(game, 1)
    exact = np.mean([reply.value for reply in best_replies(game, tables)])
    rng = np.random.default_rng(0)
    widths = []
    for n in (200, 20_000):
        counts = [
            np.array([rng.multinomial(n, table[i.key]) for i in game.infosets(s)]) for s, table in enumerate(tables)
        ]
        interval = surplus_intervals(game, counts)
        assert interval.low <= exact <= interval.high
        widths.append(interval.high - interval.low)
    assert widths[1] < widths[0] / 4


def test_sides_with_different_numbers_of_actions_have_best_responses_and_intervals():
    rows = ((4.0, 0.0, 1.0), (0.0, 3.0, 2.0))
    columns = ((0.0, 1.0, 5.0), (2.0, 0.0, -1.0))
    game = get_game(
        "matrix-v1", payoffs=(rows, columns), labels=(("UP", "DOWN"), ("LEFT", "MIDDLE", "RIGHT")), rounds=1
    )
    p, q = np.array([0.25, 0.75]), np.array([0.2, 0.3, 0.5])
    replies = best_replies(game, [{game.infosets(0)[0].key: (*p, 0.0)}, {game.infosets(1)[0].key: q}])
    assert replies[0].value == pytest.approx((p @ np.array(columns)).max())
    assert replies[1].value == pytest.approx((np.array(rows) @ q).max())
    assert [len(row) for reply in replies for row in reply.policy.values()] == [3, 3]
    rng = np.random.default_rng(0)
    interval = surplus_intervals(game, [np.array([[*rng.multinomial(4000, p), 0]]), rng.multinomial(4000, q)[None]])
    assert interval.low <= (replies[0].value + replies[1].value) / 2 <= interval.high
    assert interval.high - interval.low < 0.5
