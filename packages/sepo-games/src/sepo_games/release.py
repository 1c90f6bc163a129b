"""Supervised traces as files: JSON lines that trainers read as they are, and the release of all domains with its card and sums.

A line holds `prompt` (system and user message), `completion` (the assistant's reply, which alone carries loss: the form in which trainers
mask prompts by themselves), and `game`, `preset`, `strategy`, `episode`, `key`, `action`. Train and validation lines never share an
episode. The same arguments write the same bytes.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from sepo_games.errors import PRESETS
from sepo_games.registry import get_game
from sepo_games.sft import SftRow, held_out, sft_rows

DOMAINS = ("ipd-v1", "auction-v1", "split-v1", "multi-issue-v1", "kuhn-v1")
DECISIONS = 4_000
"""Rows of each domain and preset in the release, train and validation together."""
SUMS, CARD = "SHA256SUMS", "README.md"


def json_line(game: str, preset: str, row: SftRow) -> str:
    """One row as a line of JSON."""
    return json.dumps(
        {
            "prompt": row.messages,
            "completion": [{"role": "assistant", "content": row.reply}],
            "game": game,
            "preset": preset,
            "strategy": row.strategy,
            "episode": row.episode,
            "key": row.key,
            "action": row.action,
        },
        ensure_ascii=False,
    )


def write_atomically(path: Path, text: str) -> None:
    """Writes a file so that it is there whole or not at all."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text, "utf-8", newline="\n")
    os.replace(beside, path)


def write_rows(path: Path, game: str, preset: str, rows: Iterable[SftRow]) -> None:
    """Writes rows as JSON lines."""
    write_atomically(path, "".join(json_line(game, preset, row) + "\n" for row in rows))


def write_release(folder: Path, decisions: int = DECISIONS, seed: int = 0) -> dict[str, str]:
    """Writes train and validation rows of the five domains in both presets, a card and SHA-256 sums.

    Args:
        folder: Where to; it is made if need be, and files of these names are replaced.
        decisions: Rows of each domain and preset.
        seed: Of the traces.

    Returns:
        File name to the SHA-256 sum of its bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    counts: dict[tuple[str, str], dict[str, list[SftRow]]] = {}
    for name in DOMAINS:
        for preset in PRESETS:
            rows = sft_rows(get_game(name, preset), preset, decisions, seed)
            parts = counts[name, preset] = {
                "train": [row for row in rows if not held_out(row.episode)],
                "validation": [row for row in rows if held_out(row.episode)],
            }
            for part, of_part in parts.items():
                write_rows(folder / f"{name}-{preset}-{part}.jsonl", name, preset, of_part)
    write_atomically(folder / CARD, _card(counts, seed))
    names = sorted([CARD, *(f"{n}-{p}-{part}.jsonl" for (n, p), parts in counts.items() for part in parts)])
    sums = {name: sha256((folder / name).read_bytes()).hexdigest() for name in names}
    write_atomically(folder / SUMS, "".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    return sums


def _card(counts: Mapping[tuple[str, str], Mapping[str, Sequence[SftRow]]], seed: int) -> str:
    """What a reader of the data must know, in the form that dataset hubs show."""
    lines = [
        "---",
        "license: apache-2.0",
        "language: [en]",
        "task_categories: [text-generation]",
        "tags: [games, game theory, agents, synthetic]",
        "---",
        "",
        "# Decisions of scripted players in five strategic games",
        "",
        "Each line is one decision: `prompt` (rules and what the seat sees), `completion` (the reply in the game's canonical form; put the loss",
        "on it alone), and where it comes from. Made by `sepo-games sft --release`, from rules and scripted strategies alone: no person and no",
        f"language model wrote a reply. Seed {seed}; the same version of sepo-games writes the same bytes, whose sums are in `{SUMS}`.",
        "",
        "Preset `paper` follows the published mixtures and pools (arXiv 2605.30854), preset `sepo` the corrected ones. One strategy is drawn for",
        "each episode and plays the preset's opponents in turn from every seat. Every tenth episode is validation, so no episode is in both",
        "files; equal decisions of different episodes are, since small games have few different prompts: a low validation loss shows that the",
        "policy was learned, not that it generalises.",
        "",
        "| game | preset | train | validation | strategies (decisions) |",
        "|---|---|---|---|---|",
    ]
    for (name, preset), parts in counts.items():
        of = Counter(row.strategy for rows in parts.values() for row in rows)
        shares = ", ".join(f"{strategy} {count}" for strategy, count in of.most_common())
        lines.append(f"| {name} | {preset} | {len(parts['train'])} | {len(parts['validation'])} | {shares} |")
    lines += [
        "",
        "Known limits: replies hold no reasoning, on purpose, since a rationale written by rule would often be untrue of its state; prompts",
        "are in English and in one phrasing; some strategies of the mixtures play badly by design, so that a learner meets their states.",
        "",
    ]
    return "\n".join(lines)
