"""Games pass PettingZoo's own tests as environments."""

import warnings

import numpy as np
import pytest
from sepo_games import game_names, get_game

pytest.importorskip("pettingzoo")
from pettingzoo.test import api_test, parallel_api_test, seed_test
from sepo_games.adapters.pettingzoo import SimultaneousEnv, TurnEnv, pettingzoo_env


@pytest.mark.parametrize("name", game_names())
def test_every_game_passes_the_tests_of_its_kind_of_environment(name, capsys):
    env = pettingzoo_env(get_game(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tests themselves warn of one-hot observations that are all zero
        if isinstance(env, TurnEnv):
            api_test(env, num_cycles=100)
            seed_test(lambda: pettingzoo_env(get_game(name)), num_cycles=50)
        else:
            parallel_api_test(env, num_cycles=100)


def test_turn_games_and_simultaneous_games_are_told_apart():
    assert isinstance(pettingzoo_env(get_game("kuhn-v1")), TurnEnv)
    assert isinstance(pettingzoo_env(get_game("ipd-v1")), SimultaneousEnv)


def test_a_dilemma_pays_by_its_table_and_ends_after_its_rounds():
    env = pettingzoo_env(get_game("ipd-v1", rounds=2))
    env.reset(seed=0)
    _, rewards, ended, _, infos = env.step({"player_0": 0, "player_1": 1})
    assert rewards == {"player_0": 0.0, "player_1": 5.0}
    assert not any(ended.values())
    assert infos["player_0"]["key"] == "2:CD"
    assert infos["player_1"]["key"] == "2:DC"
    assert infos["player_1"]["legal"] == {0: "COOPERATE", 1: "DEFECT"}
    assert "they COOPERATE" in infos["player_1"]["messages"][-1]["content"]
    _, rewards, ended, _, _ = env.step({"player_0": 1, "player_1": 1})
    assert rewards == {"player_0": 1.0, "player_1": 1.0}
    assert all(ended.values())
    assert env.agents == []


def test_seats_of_poker_alternate_and_rewards_add_up_to_nothing():
    env = pettingzoo_env(get_game("kuhn-v1", hands=2))
    env.reset(seed=3)
    first = [env.agent_selection]
    total = np.zeros(2)
    for agent in env.agent_iter():
        seen, reward, ended, _, info = env.last()
        total[env.possible_agents.index(agent)] += reward
        if not ended and info["key"] in "012" and agent != first[-1]:
            first.append(agent)
        env.step(None if ended else int(np.flatnonzero(seen["action_mask"])[0]))
    assert first == ["player_0", "player_1"]
    assert total.sum() == 0
    assert abs(total).max() in {0, 2}


def test_an_illegal_action_is_an_error_that_lists_the_legal_ones():
    env = pettingzoo_env(get_game("kuhn-v1"))
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action 2 of agent 0 is not legal here: choose from \[0, 1\]"):
        env.step(2)
    with pytest.raises(ValueError, match="not finished"):
        env.step(None)
