"""Everything a run can be told, as one validated object; it is the command line, the TOML file and `config.toml` at once."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import tomli_w
import tomllib
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sepo_grpo.errors import UserError, reject

Arm = Literal["best_response", "credited", "auxiliary", "shared"]
Share = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class RunConfig(BaseModel):
    """Settings of one run. Field names are option names with `_` for `-`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    games: tuple[str, ...] = Field(("kuhn-v1", "ipd-v1"), min_length=1)
    preset: Literal["sepo", "paper"] = "sepo"
    model: str = "smollm2"
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    device: str = "cpu"
    history: Literal["last", "full"] = "last"
    arm: Arm = "best_response"

    steps: Annotated[int, Field(ge=0)] = 22
    group_size: Annotated[int, Field(ge=2)] = 16
    groups: Count = 12
    lr: Positive = 5e-4
    beta: Share = 0.02
    clip: Positive = 0.2
    rank: Count = 16
    lambda_exploitability: Share = 1.0
    lambda_collusion: Share = 1.0
    lambda_externality: Share = 1.0
    invalid_cost: Share = 1.0

    sft_steps: Annotated[int, Field(ge=0)] = 30
    sft_lr: Positive = 1.5e-3
    sft_decisions: Count = 6000
    sft_form: Share = 1.0

    temperature: Positive = 1.0
    max_tokens: Count = 8
    retries: Annotated[int, Field(ge=0)] = 1
    eval_episodes: Annotated[int, Field(ge=2)] = 16
    checkpoint_every: Count = 1


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
    defaults = NANO_DEFAULTS if values.get("model") == "nano" else {}
    try:
        return RunConfig.model_validate(defaults | values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise UserError(
            f"{name} = {first['input']!r} is not allowed: {first['msg'][0].lower()}{first['msg'][1:]}"
        ) from error


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"the settings file {str(file)!r} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"the settings file {str(file)!r} is not valid TOML: {error}") from error


def dump_config(config: RunConfig) -> str:
    """The settings as TOML that `make_config` reads back."""
    return tomli_w.dumps(config.model_dump(mode="json"))
