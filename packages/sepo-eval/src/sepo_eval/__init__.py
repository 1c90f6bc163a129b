"""Measures how well and how safely a policy plays strategic games: exactly where possible, with intervals where not."""

from importlib.metadata import version

from sepo_eval.measure import TOP_UP, Measured, measure
from sepo_eval.records import episode_record
from sepo_eval.row import Row
from sepo_eval.scripted import scripted_rows
from sepo_eval.tables import result_tables

__all__ = ["TOP_UP", "Measured", "Row", "episode_record", "measure", "result_tables", "scripted_rows"]
__version__ = version("sepo-eval")
