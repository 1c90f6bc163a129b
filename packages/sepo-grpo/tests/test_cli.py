"""The command as a user runs it: mistakes, a whole run, a kill in mid-training and its resumption."""

import json
import shutil
import signal
import subprocess
import sys
import time

import pytest
import tomllib
from PIL import Image
from safetensors import safe_open
from sepo_grpo.cli import main
from sepo_grpo.files import read_lines

SMALL = [
    "--model=nano",
    "--steps=3",
    "--sft-steps=50",
    "--sft-decisions=600",
    "--groups=2",
    "--group-size=2",
    "--eval-episodes=2",
    "--max-tokens=8",
]
COMMAND = [sys.executable, "-c", "from sepo_grpo.cli import main; main()"]


def metrics(folder):
    """The lines of metrics.jsonl without the timings."""
    return [{k: v for k, v in line.items() if k != "seconds"} for line in read_lines(folder / "metrics.jsonl")]


def numbers(folder):
    return json.loads((folder / "summary.json").read_text())["rows"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small run from beginning to end."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    done = subprocess.run([*COMMAND, *SMALL, "--out", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_the_run_folder_holds_what_it_says(finished):
    folder, done = finished
    assert str(folder) in done.stdout
    assert "sepo" in done.stdout
    assert tomllib.loads((folder / "config.toml").read_text())["model"] == "nano"
    assert [line["stage"] for line in metrics(folder)] == ["sft"] * 51 + ["train"] * 3
    assert {e["row"] for e in read_lines(folder / "episodes.jsonl")} == {"base", "sft", "sepo"}
    with safe_open(folder / "checkpoints" / "step-000003" / "adapter_model.safetensors", "pt") as adapter:
        assert any("lora_A" in key for key in adapter.keys())  # noqa: SIM118
    assert not list(folder.rglob("*.bin"))
    assert not list(folder.rglob("*.pt"))
    with Image.open(folder / "training.png") as picture:
        assert picture.size[0] > 500


def test_the_summary_has_a_record_for_each_game_and_row_with_every_key(finished):
    rows = numbers(finished[0])
    assert {(r["game"], r["row"]) for r in rows} >= {
        *((g, m) for g in ("kuhn-v1", "ipd-v1") for m in ("base", "sft", "sepo", "uniform")),
        ("ipd-v1", "always-defect"),
        ("ipd-v1", "tit-for-tat"),
        ("kuhn-v1", "equilibrium"),
    }
    sampled = (
        "payoff",
        "exploitability",
        "opponent_surplus",
        "pool_advantage",
        "collusion",
        "externality",
        "invalid_share",
    )
    keys = {
        "game",
        "row",
        "exploitability_kind",
        "n",
        *sampled,
        *(f"{k}_{end}" for k in sampled for end in ("low", "high")),
    }
    assert all(set(r) == keys for r in rows)
    assert all(r["exploitability_kind"] in {"exact", "interval"} for r in rows)
    assert all((r["exploitability"] is None) == (r["game"] != "kuhn-v1") for r in rows)


def test_progress_is_quiet_off_a_terminal(finished):
    assert "\x1b" not in finished[1].stderr
    assert len(finished[1].stderr.splitlines()) < 10


def test_the_same_seed_gives_the_same_run_and_a_kill_with_resume_too(finished, tmp_path):
    folder = tmp_path / "killed"
    process = subprocess.Popen(
        [*COMMAND, *SMALL, "--out", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 300
    while not any(line["stage"] == "train" for line in read_lines(folder / "metrics.jsonl")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (folder / "summary.json").exists()
    done = subprocess.run([*COMMAND, "--resume", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert metrics(folder) == metrics(finished[0])
    assert numbers(folder) == numbers(finished[0])
    assert read_lines(folder / "episodes.jsonl") == read_lines(finished[0] / "episodes.jsonl")


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(finished, tmp_path):
    folder = tmp_path / "stopped"
    shutil.copytree(finished[0], folder)
    settings = folder / "config.toml"
    settings.write_text(settings.read_text().replace("steps = 3\n", "steps = 500\n", 1))
    (folder / "rows" / "sepo.json").unlink()
    # A shell that starts the tests in the background lets them ignore Ctrl-C; the command must not inherit that.
    process = subprocess.Popen(
        [*COMMAND, "--resume", str(folder)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    try:
        while len([line for line in read_lines(folder / "metrics.jsonl") if line["stage"] == "train"]) < 4:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert f"sepo-grpo --resume {folder}" in " ".join(errors.split())
    assert "Traceback" not in errors
    assert list((folder / "checkpoints").glob("step-00000[4-9]/adapter_model.safetensors"))


def test_a_checkpoint_of_another_sft_policy_is_refused(finished, tmp_path):
    folder = tmp_path / "mixed"
    shutil.copytree(finished[0], folder)
    meta = folder / "checkpoints" / "step-000003" / "sepo.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"sft_sha256": "0" * 64}))
    (folder / "rows" / "sepo.json").unlink()
    done = subprocess.run([*COMMAND, "--resume", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "was trained on another SFT policy" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--games", "kuhn-v2"], "unknown game 'kuhn-v2'.*'kuhn-v1'"),
        (["--games", "kuhn-v1", "idp-v1"], "unknown game 'idp-v1'.*'ipd-v1'"),
        (["--arm", "best-response"], "unknown credit arm 'best-response'.*'best_response'"),
        (["--model", "no/such-model-here"], "model 'no/such-model-here' could not be loaded"),
        (["--steps", "-1"], "steps = -1 is not allowed"),
        (["--steps", "many"], "many"),
        (["--group-size", "1"], "group_size = 1 is not allowed: input should be greater than or equal to 2"),
        (["--temperature", "nan"], "temperature = nan is not allowed"),
        (["--preset", "papre"], "preset = 'papre' is not allowed"),
        (["--device", "abacus"], "device 'abacus' is not usable"),
        (["--step", "3"], "--step"),
        (["--resume", "nowhere"], "there is no run in 'nowhere'"),
        (["--resume", "nowhere", "--seed", "1"], "leave out --seed"),
        (["--config", "nowhere.toml"], "'nowhere.toml' cannot be read"),
    ],
)
def test_a_users_mistake_is_one_line_that_says_what_is_allowed_and_exit_code_two(arguments, message, capsys, tmp_path):
    out = [] if "--resume" in arguments else ["--out", str(tmp_path / "run")]
    with pytest.raises(SystemExit) as stop:
        main([*arguments, *out])
    assert stop.value.code == 2
    printed = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("run folder")]
    assert len(printed) == 1
    assert __import__("re").search(message, printed[0]), printed


def test_an_unknown_key_in_a_settings_file_is_refused_with_the_nearest_one(capsys, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("group_sise = 4\n")
    with pytest.raises(SystemExit):
        main(["--config", str(file)])
    assert "Did you mean 'group_size'" in capsys.readouterr().err


def test_a_folder_that_holds_a_run_is_not_overwritten(finished, capsys):
    with pytest.raises(SystemExit):
        main(["--model", "nano", "--out", str(finished[0])])
    assert "already holds a run" in capsys.readouterr().err


def test_help_explains_every_option(capsys):
    from sepo_grpo.config import RunConfig

    for command in ([], ["run"], ["sft"], ["train"]):
        main([*command, "--help"])
        printed = capsys.readouterr().out
        for name in {*RunConfig.model_fields, "out", "resume", "config", "no_progress"} - {"stage"}:
            assert f"--{name.replace('_', '-')}" in printed
