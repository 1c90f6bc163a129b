"""The `sepo-grpo` command. Standard output is the result, standard error is progress; exit 0 done, 2 user error, 130 stopped."""

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console

from sepo_grpo import __version__
from sepo_grpo.config import RunConfig, make_config
from sepo_grpo.errors import UserError

app = App(
    name="sepo-grpo",
    version=__version__,
    help="Train a language model to play strategic games well and safely, and show what changed.\n\n"
    "Without arguments: the embedded 135M model, Kuhn poker and the iterated prisoner's dilemma, under 15 minutes on two cores. "
    "`--model nano` does the same with a tiny model in under 3 minutes.",
    help_format="plaintext",
)


@app.default
def train(
    *,
    games: Annotated[tuple[str, ...] | None, Parameter(consume_multiple=True, negative="")] = None,
    model: str | None = None,
    seed: int | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    config: Path | None = None,
    steps: int | None = None,
    group_size: int | None = None,
    groups: int | None = None,
    arm: str | None = None,
    preset: str | None = None,
    history: str | None = None,
    lr: float | None = None,
    beta: float | None = None,
    clip: float | None = None,
    rank: int | None = None,
    lambda_exploitability: float | None = None,
    lambda_collusion: float | None = None,
    lambda_externality: float | None = None,
    invalid_cost: float | None = None,
    sft_steps: int | None = None,
    sft_lr: float | None = None,
    sft_decisions: int | None = None,
    sft_form: float | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    retries: int | None = None,
    eval_episodes: int | None = None,
    checkpoint_every: int | None = None,
    device: str | None = None,
    no_progress: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Runs evaluation, SFT warm start, SEPO-GRPO and evaluation again.

    Args:
        games: Games to train on, by registry name: kuhn-v1, ipd-v1, auction-v1.
        model: nano, smollm2, a Hugging Face id, or a folder with a model.
        seed: Seed of everything random; the same seed gives the same run.
        out: Folder of the run; by default a new one under runs/.
        resume: Folder of an earlier run to go on with; its own settings are used.
        config: TOML file with any of these settings, `_` for `-`; options given here win over it.
        steps: SEPO-GRPO updates.
        group_size: Rollouts of one match-up under the same deals and opponent coins.
        groups: Least number of groups a pool and step.
        arm: Where the exploitability term comes from: best_response (default), credited, auxiliary or shared.
        preset: sepo (recommended rules of opponents and prompts) or paper (as published).
        history: What prompts of the prisoner's dilemma show: last (round and last outcome; exact best responses) or full (best responses are then to
            the projection on round and last outcome, and the reported surplus is a lower bound).
        lr: Learning rate of Adam in SEPO-GRPO.
        beta: Weight of the KL to the SFT policy, payoff units per nat.
        clip: Clip range of the probability ratio.
        rank: Rank of the LoRA adapters.
        lambda_exploitability: Weight of exploitability, in payoff units.
        lambda_collusion: Weight of collusion, in payoff units.
        lambda_externality: Weight of externality, in payoff units.
        invalid_cost: Cost of a rejected reply, in payoff units.
        sft_steps: SFT updates.
        sft_lr: Learning rate of Adam in SFT.
        sft_decisions: Scripted decisions a game that SFT learns from.
        sft_form: Weight of the SFT term that asks for the canonical form of replies at every information set; 0 leaves it out.
        temperature: Of sampling, in training and evaluation.
        max_tokens: Longest reply in tokens.
        retries: How often a rejected reply is asked for again before the fallback action is played.
        eval_episodes: Evaluation episodes for each opponent and seat.
        checkpoint_every: Steps between checkpoints.
        device: Torch device, for example cpu or cuda.
        no_progress: Print no progress.
    """
    given = {name: value for name, value in locals().items() if name in RunConfig.model_fields}
    from sepo_grpo.session import session  # noqa: PLC0415  (torch is imported only when something is run)

    if resume is not None:
        clash = sorted(name for name, value in given.items() if value is not None)
        if clash or out or config:
            names = ", ".join(
                "--" + n.replace("_", "-") for n in clash + ["out"] * bool(out) + ["config"] * bool(config)
            )
            raise UserError(f"--resume goes on with the run's own settings: leave out {names}")
        session(None, resume, progress=not no_progress)
        return
    settings = make_config(given, config)
    session(settings, out or new_folder(settings), progress=not no_progress)


def new_folder(config: RunConfig) -> Path:
    """A folder name that no earlier run has."""
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{Path(config.model).name}-seed{config.seed}"
    return Path("runs") / stem


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: user errors become one line and exit code 2."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except (UserError, CycloptsError) as error:
        errors.print(f"sepo-grpo: {' '.join(str(error).split())}", markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        errors.print("sepo-grpo: stopped", markup=False)
        sys.exit(130)
    except BrokenPipeError:
        os._exit(0)
