"""The `sepo-games` command, as a person runs it."""

import json

import pytest
from sepo_games import game_names, get_game
from sepo_games.cli import main


def run(capsys, *tokens):
    main(tokens)
    return capsys.readouterr().out


def fails(capsys, *tokens):
    with pytest.raises(SystemExit) as stop:
        main(tokens)
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def type_lines(monkeypatch, *lines):
    left = list(lines)

    def read(_):
        if not left:
            raise EOFError
        return left.pop(0)

    monkeypatch.setattr("builtins.input", read)


def test_ls_names_every_game_with_its_pools(capsys):
    out = run(capsys, "ls")
    assert [line.split(":")[0] for line in out.splitlines() if not line.startswith(" ")] == list(game_names())
    assert "  train: nash, tight-passive, loose-aggressive" in out


@pytest.mark.parametrize("name", game_names())
def test_show_prints_rules_prompts_replies_and_references_of_every_game(name, capsys):
    out = run(capsys, "show", name)
    game = get_game(name)
    first = game.infosets(1)[0].view
    assert game.render(first)[0]["content"] in out
    assert game.render(first)[1]["content"] in out
    assert game.reply(first, first.legal[0]) in out
    assert f"reference ({game.reference})" in out


def test_rules_can_be_changed(capsys):
    assert "A game of 4 rounds" in run(capsys, "show", "ipd-v1", "--set", "rounds=4")
    assert "keeps every promise" in run(capsys, "check", "kuhn-v1", "--set", "hands=1", "--episodes", "20")


def test_a_person_plays_and_reads_the_score(capsys, monkeypatch):
    type_lines(monkeypatch, "defect", "maybe", "ACTION: COOPERATE")
    out = run(capsys, "play", "ipd-v1", "--vs", "tit-for-tat", "--set", "rounds=2", "--seed", "1")
    assert "you DEFECT, they COOPERATE 5, 0" in out
    assert "Last round: you DEFECT, they COOPERATE." in out
    assert "unparsed" in out
    assert out.endswith("round 1: you 5, they 0\nround 2: you 0, they 5\nin all: you 5, they 5\n")


def test_a_person_may_leave(capsys, monkeypatch):
    type_lines(monkeypatch, "BET")
    assert run(capsys, "play", "kuhn-v1", "--seed", "0").endswith("You left the game.\n")


def test_training_data_is_split_by_episode_and_does_not_depend_on_the_run(tmp_path, capsys):
    train, validation = tmp_path / "train.jsonl", tmp_path / "validation.jsonl"
    call = ("sft", "--game", "kuhn-v1", "--n", "500", "--out", str(train), "--validation", str(validation))
    assert run(capsys, *call) == ""
    once = train.read_bytes(), validation.read_bytes()
    run(capsys, *call)
    assert once == (train.read_bytes(), validation.read_bytes())
    parts = [[json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in (train, validation)]
    assert sum(map(len, parts)) == 500
    assert not {row["episode"] for row in parts[0]} & {row["episode"] for row in parts[1]}
    assert 20 < len(parts[1]) < 100
    game = get_game("kuhn-v1")
    for row in parts[1]:
        view = next(i.view for seat in (0, 1) for i in game.infosets(seat) if i.key == row["key"])
        assert row["prompt"] == list(game.render(view))
        assert row["completion"] == [{"role": "assistant", "content": game.reply(view, row["action"])}]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.jsonl", "validation.jsonl"]


def test_training_data_goes_to_standard_output_by_default(capsys):
    lines = run(capsys, "sft", "--game", "ipd-v1", "--n", "9", "--preset", "paper").splitlines()
    assert [json.loads(line)["preset"] for line in lines] == ["paper"] * 9


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (("show", "khun-v1"), "unknown game 'khun-v1'"),
        (("show", "kuhn-v1", "--preset", "papers"), "invalid choice: 'papers'"),
        (("show", "ipd-v1", "--set", "rounds"), "write FIELD=VALUE"),
        (("show", "ipd-v1", "--set", "round=4"), "does not take the options round"),
        (("show", "ipd-v1", "--set", "rounds=0"), "rounds = 0 is not allowed"),
        (("show", "ipd-v1", "--set", "rounds=many"), "ipd-v1"),
        (("play", "kuhn-v1", "--vs", "nsah"), "Did you mean 'nash'"),
        (("play", "kuhn-v1", "--seat", "2"), "has no seat 2"),
        (("sft",), "either --game NAME or --release DIR"),
        (("sft", "--game", "kuhn-v1", "--n", "0"), "'0' is not a whole number from 1"),
        (("sft", "--game", "kuhn-v1", "--seed", "-1"), "--seed"),
        (("sft", "--game", "kuhn-v1", "--n", "5", "--out", "/nowhere/at/all"), "/nowhere/at"),
        (("check", "nothing"), "unknown game"),
    ],
)
def test_mistakes_are_told_in_one_line(tokens, message, capsys):
    assert message in fails(capsys, *tokens)
