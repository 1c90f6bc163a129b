"""Everything a run can be told, as one validated object; it is the command line, the TOML file and `config.toml` at once."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import tomli_w
import tomllib
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sepo_grpo.errors import UserError, reject
from sepo_grpo.starts import CONFIG, run_and_checkpoint

Arm = Literal["best_response", "credited", "auxiliary", "shared"]
Stage = Literal["run", "sft", "train"]
LossKind = Literal["dr_grpo", "grpo", "dapo", "gspo"]
DOMAINS = ("ipd-v1", "auction-v1", "split-v1", "multi-issue-v1", "kuhn-v1")
"""The five published domains, which `all` stands for."""


def at_least(least: float, default: Any, description: str) -> Any:
    """A finite number not below `least`."""
    return Field(default, ge=least, allow_inf_nan=False, description=description)


def above_zero(default: Any, description: str) -> Any:
    """A finite number above 0."""
    return Field(default, gt=0, allow_inf_nan=False, description=description)


class RunConfig(BaseModel):
    """Settings of one run. Field names are option names with `_` for `-`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: Stage = Field(
        "run", description="What is done: run (everything), sft or train; the commands of these names set it."
    )
    start: str | None = Field(
        None,
        description="Checkpoint to start from, instead of the bare model: a run's folder, its checkpoints/sft or a checkpoints/step-N.",
    )

    games: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        ("kuhn-v1", "ipd-v1"),
        description="Games to train on, by registry name, each with a weight of its loss if it is not 1: kuhn-v1 ipd-v1=2. `all` stands for "
        "the five published domains.",
    )
    preset: Literal["sepo", "paper"] = Field(
        "sepo", description="sepo (recommended rules of opponents and prompts) or paper (as published)."
    )
    model: str = Field("smollm2", description="nano, smollm2, a Hugging Face id, or a folder with a model.")
    seed: int = Field(0, ge=0, lt=2**31, description="Seed of everything random; the same seed gives the same run.")
    device: str = Field("cpu", description="Torch device, for example cpu or cuda.")
    dtype: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="Number type of the weights: auto is float32 on the CPU, bfloat16 elsewhere."
    )
    history: Literal["last", "full"] = Field(
        "last",
        description="What prompts of the prisoner's dilemma show: last (round and last outcome; exact best responses) or full (best responses "
        "are then to the projection on round and last outcome, and the reported surplus is a lower bound).",
    )
    actions: Literal["reply", "choose"] = Field(
        "reply",
        description="How the model acts: reply (free text, parsed) or choose (the legal actions' replies are scored, one is drawn).",
    )
    thinking: bool = Field(False, description="Whether thinking models may think before they reply.")

    arm: Arm = Field(
        "best_response",
        description="Where the exploitability term comes from: best_response, credited, auxiliary or shared.",
    )
    self_play: bool = Field(
        False, description="Whether the train pool also holds a frozen copy of the policy of each step."
    )
    best_response_every: int = at_least(1, 1, "Steps between best responses; above 1 the staleness is logged.")
    steps: int = at_least(0, 22, "SEPO-GRPO steps.")
    updates: int = at_least(1, 1, "Updates on each step's episodes.")
    group_size: int = at_least(2, 16, "Rollouts of one match-up under the same deals and opponent coins.")
    groups: int = at_least(1, 12, "Least number of groups a pool and step.")
    tune: Literal["lora", "full"] = Field("lora", description="What is trained: lora adapters or the full model.")
    lr: float = above_zero(5e-4, "Learning rate of Adam in SEPO-GRPO.")
    rank: int = at_least(1, 16, "Rank of the LoRA adapters.")
    gradient_checkpointing: bool = Field(False, description="Whether activations are recomputed to save memory.")
    micro_tokens: int = at_least(
        1, 65536, "Most tokens of one forward and backward pass of an update; gradients do not depend on it."
    )

    loss: LossKind = Field(
        "dr_grpo",
        description="dr_grpo (constant length), grpo (mean over a reply), dapo (mean over tokens) or gspo (ratio of a reply).",
    )
    clip: float = above_zero(0.2, "Clip range of the probability ratio.")
    clip_high: float | None = above_zero(None, "Upper clip range, if it differs (DAPO's clip-higher).")
    credit: Literal["return_to_go", "episode", "immediate"] = Field(
        "return_to_go", description="What a decision is credited with: return_to_go, episode or immediate."
    )
    baseline: Literal["leave_one_out", "mean"] = Field(
        "leave_one_out", description="leave_one_out or the group's mean."
    )
    scale: Literal["none", "group", "batch"] = Field(
        "none",
        description="Standard deviation that advantages are divided by: none, group (erases the weights; for comparison) or batch.",
    )
    sd_floor: float = at_least(0, 0.0, "Least such standard deviation, in payoff units.")
    beta: float = at_least(0, 0.02, "Weight of the KL to the start policy, payoff units per nat.")
    kl_target: float | None = above_zero(None, "KL a decision, in nats, that beta is adapted to.")
    kl_stop: float | None = above_zero(
        None, "KL a decision to the policy that sampled at which a step's remaining updates are left out."
    )

    lambda_exploitability: float = at_least(0, 1.0, "Weight of exploitability, in payoff units.")
    lambda_collusion: float = at_least(0, 1.0, "Weight of collusion, in payoff units.")
    lambda_externality: float = at_least(0, 1.0, "Weight of externality, in payoff units.")
    budget_exploitability: float | None = at_least(
        0, None, "Exploitability allowed per round; its weight is then a controller's."
    )
    budget_collusion: float | None = at_least(
        0, None, "Collusion allowed per round; its weight is then a controller's."
    )
    budget_externality: float | None = at_least(
        0, None, "Externality allowed per round; its weight is then a controller's."
    )
    invalid_cost: float = at_least(0, 1.0, "Cost of a rejected reply, in payoff units.")

    sft_steps: int = at_least(0, 30, "SFT updates.")
    sft_lr: float = above_zero(1.5e-3, "Learning rate of Adam in SFT.")
    sft_decisions: int = at_least(1, 6000, "Scripted decisions a game that SFT learns from.")
    sft_form: float = at_least(
        0,
        1.0,
        "Weight of the SFT term that asks for the canonical form of replies at every information set; 0 leaves it out.",
    )
    sft_batch: int = at_least(
        1, 512, "Most distinct rows of a game in one SFT update; where there are more, a sample is drawn."
    )

    temperature: float = above_zero(1.0, "Of sampling, in training and evaluation.")
    max_tokens: int = at_least(1, 8, "Longest reply in tokens.")
    retries: int = at_least(0, 1, "How often a rejected reply is asked for again before the fallback action is played.")
    eval_episodes: int = at_least(2, 16, "Evaluation episodes for each opponent and seat.")
    checkpoint_every: int = at_least(1, 1, "Steps between checkpoints.")
    track: tuple[str, ...] = Field((), description="Trackers beside metrics.jsonl: tensorboard, trackio, wandb.")


NANO_DEFAULTS: dict[str, Any] = {"steps": 40, "lr": 1e-3, "sft_steps": 150, "sft_lr": 2e-3, "sft_form": 0.0}
"""What differs by default for the nano model, which is trained from nothing, is fast, and learns the form of replies on the way."""


def make_config(given: dict[str, Any], file: Path | None = None) -> RunConfig:
    """Settings from defaults, a TOML file and explicitly given values, the later ones winning.

    Args:
        given: Values by field name; `None` means not given.
        file: A TOML file whose keys are field names.

    Raises:
        UserError: For an unreadable file, an unknown key or a value that is not allowed.
    """
    values = (_read(file) if file else {}) | {key: value for key, value in given.items() if value is not None}
    for key in values:
        if key not in RunConfig.model_fields:
            reject("setting", key, sorted(RunConfig.model_fields))
    if values.get("arm") is not None and values["arm"] not in get_args(Arm):
        reject("credit arm", str(values["arm"]), list(get_args(Arm)))
    if values.get("start") is not None and "model" not in values:
        earlier, _ = run_and_checkpoint(Path(str(values["start"])))
        values["model"] = _read(earlier / CONFIG).get("model", "smollm2")
    defaults = NANO_DEFAULTS if values.get("model") == "nano" else {}
    try:
        return RunConfig.model_validate(defaults | values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise UserError(
            f"{name} = {first['input']!r} is not allowed: {first['msg'][0].lower()}{first['msg'][1:]}"
        ) from error


def game_weights(games: tuple[str, ...]) -> dict[str, float]:
    """Names and weights out of `name`, `name=weight` and `all`; later ones win.

    Raises:
        UserError: If a weight is not a number above 0.
    """
    weights: dict[str, float] = {}
    for item in games:
        name, _, text = item.partition("=")
        try:
            weight = float(text) if text or item.endswith("=") else 1.0
        except ValueError:
            weight = 0.0
        if not 0 < weight < float("inf"):
            raise UserError(
                f"games = {item!r} is not allowed: the weight of a game is a finite number above 0, as in {name}=2"
            )
        weights |= dict.fromkeys(DOMAINS, weight) if name == "all" else {name: weight}
    return weights


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"the settings file {str(file)!r} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"the settings file {str(file)!r} is not valid TOML: {error}") from error


def dump_config(config: RunConfig) -> str:
    """The settings as TOML that `make_config` reads back."""
    return tomli_w.dumps(config.model_dump(mode="json", exclude_none=True))
