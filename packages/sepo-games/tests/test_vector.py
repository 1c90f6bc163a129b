"""All episodes at once are the same episodes."""

import numpy as np
import pytest
from sepo_games import MatchUp, Scripted, ScriptedPolicy, get_game, play, play_scripted, to_arrays

EPISODES = 16


def both_ways(game, learner, opponent, seed=5):
    """The same match-ups played one by one and all at once."""
    numbers = np.arange(EPISODES)
    seats, groups, rollouts = numbers % game.num_players(), numbers // 4, numbers % 4
    match_ups = [
        MatchUp(game, int(s), "opponent", opponent, "train", int(g), int(r))
        for s, g, r in zip(seats, groups, rollouts, strict=True)
    ]
    episodes = play(match_ups, ScriptedPolicy(game, learner), seed)
    return episodes, play_scripted(game, learner, opponent, seats, groups, rollouts, seed)


def assert_equal(game, episodes, found):
    expected = to_arrays(episodes)
    actions = np.full(expected["mask"].shape, -1)
    for b, episode in enumerate(episodes):
        for step in episode.steps:
            actions[b, step.slot] = step.action
    np.testing.assert_array_equal(found["actions"], actions)
    for name in found.keys() & expected.keys():
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    assert {"payoffs", "outsiders", "benchmark_payoffs", "harmless_outsiders", "mask", "segment"} <= found.keys()


@pytest.mark.parametrize("preset", ["sepo", "paper"])
@pytest.mark.parametrize("name", ["kuhn-v1", "ipd-v1", "auction-v1"])
def test_every_strategy_plays_the_same_episodes_one_by_one_and_all_at_once(name, preset):
    game = get_game(name, preset)
    for strategy in [*game.strategies.values()][:24]:
        for opponent in (game.strategies["uniform"], strategy):
            assert_equal(game, *both_ways(game, strategy, opponent))


def test_a_strategy_that_remembers_everything_needs_no_memory_of_its_own():
    game = get_game("ipd-v1")
    grudging = Scripted(lambda view: (1.0, 0.0) if sum(view.other) < 2 else (0.3, 0.7), markov=False)
    counted = Scripted(grudging.rule, markov=False, memory=lambda view: min(2, sum(view.other)))
    uniform = game.strategies["uniform"]
    for strategy in (grudging, counted):
        assert_equal(game, *both_ways(game, strategy, uniform))
        assert_equal(game, *both_ways(game, uniform, strategy))


def test_bad_episodes_are_refused_with_the_range_that_is_allowed():
    game = get_game("kuhn-v1")
    uniform = game.strategies["uniform"]
    for seats, groups, seed, message in (
        ([2], [0], 0, "seats 0 to 1, but seats go from 2 to 2"),
        ([0], [-1], 0, "groups: -1 to -1 is not allowed"),
        ([0], [0], -1, "seed: -1 to -1"),
        ([0, 1], [0], 0, "2 seats, 1 groups"),
        ([], [], 0, "at least one"),
    ):
        with pytest.raises(ValueError, match=message):
            play_scripted(game, uniform, uniform, seats, groups, [0] * len(groups), seed)
