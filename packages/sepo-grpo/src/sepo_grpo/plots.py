"""The run's picture: exploitability (or opponent surplus) and payoff over steps, one column a game."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from sepo_grpo.files import write_bytes

INK, ACCENT = "#1b3a57", "#c2571a"


def plot_training(lines: Sequence[dict[str, Any]], units: dict[str, str], path: Path) -> None:
    """Draws the training curves.

    Args:
        lines: The train lines of `metrics.jsonl`.
        units: For each game what a payoff is counted per, for example `{"kuhn-v1": "hand"}`.
        path: The PNG to write.
    """
    figure = Figure(figsize=(5.2 * len(units), 6.0), layout="constrained")
    axes = figure.subplots(2, len(units), sharex=True, squeeze=False)
    steps = [line["step"] for line in lines]
    for column, (game, unit) in enumerate(units.items()):
        records = [line["games"][game] for line in lines]
        zero_sum = bool(records) and records[0]["exploitability"] is not None
        top, bottom = axes[0][column], axes[1][column]
        top.plot(steps, [r["surplus"] for r in records], color=ACCENT)
        top.axhline(0, color="0.75", linewidth=0.8, zorder=0)
        top.set_title(game)
        top.set_ylabel(f"{'exploitability' if zero_sum else 'opponent surplus'} (exact, per {unit})")
        bottom.plot(steps, [r["payoff"] for r in records], color=INK)
        bottom.set_ylabel(f"payoff against the train pool (per {unit})")
        bottom.set_xlabel("step")
        for axis in (top, bottom):
            axis.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=140)
    write_bytes(path, buffer.getvalue())
