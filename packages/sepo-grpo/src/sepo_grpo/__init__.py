"""A minimal, right GRPO trainer for language-model agents that play strategic games well and safely."""

import os
from importlib.metadata import version

# Threads that wait must soon sleep: ones that spin for ever make everything else on a shared machine ten times slower, ones that
# sleep at once make every small operation pay for waking them. OpenMP reads this when torch is imported, so it is set before
# any module here imports torch.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "30000")

__version__ = version("sepo-grpo")
