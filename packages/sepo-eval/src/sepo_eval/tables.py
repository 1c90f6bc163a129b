"""Result rows as terminal tables."""

from collections.abc import Sequence

from rich.table import Table

from sepo_eval.row import Row

COLUMNS = {
    "payoff": "payoff",
    "exploitability": "exploitability",
    "opponent_surplus": "opp. surplus",
    "pool_advantage": "pool advantage",
    "collusion": "collusion",
    "externality": "externality",
    "invalid_share": "invalid",
}


def number(row: Row, key: str) -> str:
    """A value with its bounds, `exact` values without, `-` where not applicable."""
    value = getattr(row, key)
    if value is None:
        return "-"
    low, high = getattr(row, f"{key}_low"), getattr(row, f"{key}_high")
    form = ".1%" if key == "invalid_share" else (".3f" if key in {"payoff", "exploitability", "externality", "collusion", "pool_advantage"} else "+.3f")
    text = f"{value:{form}}"
    return text if low is None else f"{text} [{low:{form}}, {high:{form}}]"


def result_tables(rows: Sequence[Row]) -> list[Table]:
    """One table for each game, rows in the given order, columns that apply to no row left out."""
    tables = []
    for game in dict.fromkeys(row.game for row in rows):
        of_game = [row for row in rows if row.game == game]
        shown = [key for key in COLUMNS if any(getattr(row, key) is not None for row in of_game)]
        table = Table(title=f"{game} (per round or hand; 95 % intervals where sampled)", title_justify="left")
        table.add_column("row")
        for key in shown:
            table.add_column(COLUMNS[key], justify="right")
        table.add_column("known", justify="left")
        for row in of_game:
            table.add_row(row.row, *(number(row, key) for key in shown), row.exploitability_kind or "-")
        tables.append(table)
    return tables
