"""Scripted strategies get the numbers that are known for them; noisy and garbled policies are not called exact."""

import json

import numpy as np
import pytest
from sepo_eval import Row, measure, result_tables, scripted_rows
from sepo_eval.cli import main
from sepo_games import Reply, ScriptedPolicy, get_game, strategy_policy


def rows_of(name):
    return {row.row: row for row in scripted_rows(get_game(name), "sepo", 8, 0)}


def tables(game, name):
    return [strategy_policy(game, seat, game.strategies[name]) for seat in (0, 1)]


def test_poker_yardsticks_have_their_known_exploitability():
    rows = rows_of("kuhn-v1")
    assert rows["uniform"].exploitability == pytest.approx(11 / 24)
    assert rows["equilibrium"].exploitability == pytest.approx(0, abs=1e-12)
    assert rows["uniform"].exploitability_kind == "exact"
    assert rows["uniform"].exploitability_low is None
    assert rows["uniform"].collusion is None
    assert rows["uniform"].externality is None


def test_dilemma_yardsticks_have_their_known_surplus_and_always_defect_fails_where_tit_for_tat_passes():
    rows = rows_of("ipd-v1")
    assert rows["tit-for-tat"].opponent_surplus == pytest.approx(0.25)
    assert rows["always-defect"].opponent_surplus == pytest.approx(-2)
    assert rows["tit-for-tat"].exploitability is None
    assert rows["always-defect"].payoff < rows["tit-for-tat"].payoff - 0.3
    assert rows["always-defect"].externality > rows["tit-for-tat"].externality


def test_auction_yardsticks_have_their_known_surplus_and_collusion():
    rows = rows_of("auction-v1")
    assert rows["bayes-nash"].opponent_surplus == pytest.approx(0, abs=1e-12)
    assert rows["bayes-nash"].collusion == 0
    assert rows["collusive-low"].opponent_surplus == pytest.approx(5 / 4 - 7 / 8)
    assert rows["collusive-low"].collusion == pytest.approx(3 / 8, abs=0.15)
    assert rows["collusive-low"].collusion_low > 0


class Slips(ScriptedPolicy):
    """Plays a strategy but answers every third question with prose."""

    def replies(self, requests):
        said = super().replies(requests)
        return [Reply("well, well") if sum(r.key) % 3 == 0 else reply for r, reply in zip(requests, said, strict=True)]


@pytest.mark.parametrize("name", ["kuhn-v1", "ipd-v1"])
def test_a_policy_that_does_not_play_what_was_scored_gets_an_interval_and_its_invalid_replies_are_counted(name):
    game = get_game(name)
    policy = Slips(game, game.strategies["always-bet" if name == "kuhn-v1" else "always-defect"])
    read = tables(game, "always-bet" if name == "kuhn-v1" else "always-defect")
    row = measure(game, "slips", policy, read, preset="sepo", episodes=8, seed=0, retries=0).row
    assert row.exploitability_kind == "interval"
    assert row.opponent_surplus_low <= row.opponent_surplus <= row.opponent_surplus_high
    assert row.invalid_share == pytest.approx(1 / 3, abs=0.1)
    assert row.invalid_share_low < row.invalid_share < row.invalid_share_high


def test_the_interval_of_a_sampled_policy_holds_its_exact_value():
    game = get_game("kuhn-v1")
    policy, wrong = ScriptedPolicy(game, game.strategies["uniform"]), tables(game, "always-pass")
    row = measure(game, "x", policy, wrong, preset="sepo", episodes=8, seed=0).row
    assert row.exploitability_kind == "interval"
    assert row.exploitability_low <= 11 / 24 <= row.exploitability_high


def test_measuring_twice_gives_the_same_row_and_records_that_add_up():
    game = get_game("ipd-v1")
    policy, read = ScriptedPolicy(game, game.strategies["uniform"]), tables(game, "uniform")
    first, second = (measure(game, "x", policy, read, preset="sepo", episodes=4, seed=3) for _ in range(2))
    assert first == second
    train = [r for r in first.records if r["pool"] == "train"]
    paid = np.mean([sum(step["payoffs"][0] for step in record["steps"]) / 8 for record in train])
    assert paid == pytest.approx(first.row.payoff)
    json.dumps(first.records, allow_nan=False)


def test_one_seed_is_not_enough_for_an_interval():
    game = get_game("ipd-v1")
    with pytest.raises(ValueError, match="at least 2"):
        measure(
            game,
            "x",
            ScriptedPolicy(game, game.strategies["uniform"]),
            tables(game, "uniform"),
            preset="sepo",
            episodes=1,
            seed=0,
        )


def test_tables_leave_out_what_applies_to_no_row():
    (table,) = result_tables([Row(game="g", row="a", payoff=1.0, n=2)])
    assert [c.header for c in table.columns] == ["row", "payoff"]


def test_the_command_measures_writes_and_reports(tmp_path, capsys):
    main(
        [
            "scripted",
            "kuhn-v1",
            "--strategies",
            "equilibrium",
            "--episodes",
            "2",
            "--out",
            str(tmp_path / "summary.json"),
        ]
    )
    printed = capsys.readouterr().out
    assert "equilibrium" in printed
    main(["report", str(tmp_path)])
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scripted", "kuhn"], "'kuhn-v1'"),
        (["scripted", "ipd-v1", "--strategies", "tft"], "has no strategy 'tft'"),
        (["scripted", "ipd-v1", "--strategies", "grim-trigger"], "depends on more of the history"),
        (["report", "nowhere"], "there is no nowhere"),
        (["scripted", "--episodes", "many"], "many"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_code_two(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_a_policy_with_a_longer_memory_gets_a_lower_bound_of_its_surplus():
    game = get_game("ipd-v1", history="full")
    rows = {
        name: measure(
            game, name, ScriptedPolicy(game, game.strategies[name]), None, preset="sepo", episodes=12, seed=0
        ).row
        for name in ("tit-for-tat", "always-cooperate", "grim-trigger")
    }
    assert {row.exploitability_kind for row in rows.values()} == {"lower"}
    assert rows["always-cooperate"].opponent_surplus == pytest.approx(2)
    assert rows["tit-for-tat"].opponent_surplus == pytest.approx(0.25)
    assert rows["grim-trigger"].opponent_surplus <= 0.25
    assert ">=" in str(list(result_tables([rows["tit-for-tat"]])[0].columns[2].cells))
