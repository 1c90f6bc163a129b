"""The example of the README runs and prints what it says."""

import re
from pathlib import Path


def test_the_example_of_the_readme_prints_what_it_says(capsys):
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], {})  # noqa: S102
    value, surplus, interval = capsys.readouterr().out.splitlines()
    assert value == "26.0"
    assert surplus == "Surplus(signed=0.25, clipped=0.25, kind='exact')"
    low, high = map(float, re.findall(r"=([\d.]+)", interval))
    assert low <= 26 + 1e-6
    assert high >= 26 - 1e-6
