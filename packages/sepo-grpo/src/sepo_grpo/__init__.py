"""A minimal, right GRPO trainer for language-model agents that play strategic games well and safely."""

import os
from importlib.metadata import version

# Threads that wait must sleep: spinning ones make everything else on a shared machine ten times slower. OpenMP reads
# this when torch is imported, so it is set before any module here imports torch.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = version("sepo-grpo")
