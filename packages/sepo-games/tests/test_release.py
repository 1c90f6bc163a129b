"""The data release is the same bytes everywhere."""

from hashlib import sha256
from pathlib import Path

from sepo_games.release import write_release

COMMITTED = Path(__file__).parent.parent / "data" / "SHA256SUMS"


def test_the_release_has_the_committed_sums_and_a_card(tmp_path):
    sums = write_release(tmp_path / "release")
    written = (tmp_path / "release" / "SHA256SUMS").read_text("utf-8")
    assert written == COMMITTED.read_text("utf-8")
    assert len(sums) == 5 * 2 * 2 + 1
    for name, digest in sums.items():
        assert sha256((tmp_path / "release" / name).read_bytes()).hexdigest() == digest
    card = (tmp_path / "release" / "README.md").read_text("utf-8")
    for needed in ("license: apache-2.0", "| kuhn-v1 | paper |", "Known limits", "Every tenth episode is validation"):
        assert needed in card
