"""Result rows as terminal tables that fit into 80 columns: each value above its interval."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

from sepo_eval.row import Row

COLUMNS = {
    "payoff": "payoff",
    "exploitability": "exploit-\nability",
    "opponent_surplus": "opponent\nsurplus",
    "pool_advantage": "pool\nadvantage",
    "collusion": "collusion",
    "externality": "external-\nity",
    "invalid_share": "invalid\nreplies",
}


def cell(row: Row, key: str) -> str:
    """A value above its bounds; `-` where not applicable, no bounds where exact."""
    value = getattr(row, key)
    if value is None:
        return "-"
    percent = key == "invalid_share"
    low, high = getattr(row, f"{key}_low"), getattr(row, f"{key}_high")
    text = f"{value:.1%}" if percent else f"{value:.3f}"
    if row.exploitability_kind == "lower" and key in {"opponent_surplus", "exploitability"}:
        text = f">= {text}"
    if low is None:
        return text
    return f"{text}\n{low:.1%}..{high:.1%}" if percent else f"{text}\n{low:.2f}..{high:.2f}"


def result_tables(rows: Sequence[Row]) -> list[Table]:
    """One table for each game, rows in the given order, columns that apply to no row left out."""
    tables = []
    for game in dict.fromkeys(row.game for row in rows):
        of_game = [row for row in rows if row.game == game]
        shown = [key for key in COLUMNS if any(getattr(row, key) is not None for row in of_game)]
        title = f"{game}: per round or hand, 95 % intervals below sampled values, none where exact"
        table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE, padding=(0, 1, 0, 0))
        table.add_column("row", no_wrap=True)
        for key in shown:
            table.add_column(COLUMNS[key], justify="right", no_wrap=True)
        for row in of_game:
            table.add_row(row.row, *(cell(row, key) for key in shown))
        tables.append(table)
    return tables
