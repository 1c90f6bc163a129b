"""The command line's options, made from the settings, so that each is named, explained and checked in one place."""

from contextlib import suppress
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

from cyclopts import Parameter
from pydantic import BaseModel, Field, create_model
from pydantic.fields import FieldInfo

from sepo_grpo.config import RunConfig


def kind_of(annotation: Any) -> Any:
    """The plain type behind a setting's annotation: `bool`, `int`, `float`, `str` or `tuple`."""
    if get_origin(annotation) is UnionType:
        return next(kind_of(part) for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) is tuple:
        return tuple
    return annotation if annotation in {bool, int, float} else str


def _option(annotation: Any) -> Any:
    """How the command line takes it. Numbers come as text, so that the settings' own check speaks about them."""
    kind = kind_of(annotation)
    if kind is tuple:
        return Annotated[tuple[str, ...] | None, Parameter(consume_multiple=True, negative="")]
    return bool | None if kind is bool else str | None


def _described(field: FieldInfo) -> str:
    default = field.get_default()
    shown = " ".join(default) if isinstance(default, tuple) else default
    return f"{field.description}" if shown in {None, ""} else f"{field.description} [default: {shown}]"


Options: type[BaseModel] = create_model(
    "Options",
    **{
        name: (_option(field.annotation), Field(None, description=_described(field)))
        for name, field in RunConfig.model_fields.items()
        if name != "stage"
    },  # type: ignore[call-overload]
)
"""Every setting but the stage, all optional: `None` is not given."""


def given_values(options: BaseModel | None) -> dict[str, Any]:
    """The settings that were given, by field name, numbers as numbers."""
    values = options.model_dump(exclude_none=True) if options else {}
    for name, value in values.items():
        kind = kind_of(RunConfig.model_fields[name].annotation)
        if kind in {int, float}:
            with suppress(ValueError):
                values[name] = kind(value)
    return values
