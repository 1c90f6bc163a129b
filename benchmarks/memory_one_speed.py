"""Best responses a second to policies of the repeated prisoner's dilemma, on one core.

    OMP_NUM_THREADS=1 python benchmarks/memory_one_speed.py

Memory-one policies by dynamic programming, and a policy over all 21,845 histories of eight rounds by its tree.
"""

import time
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
from sepo_penalties import SequenceForm
from sepo_penalties.kernels import HAS_NUMBA, batch_nash_conv, batch_response_value, kernel_of
from sepo_penalties.memory_one import MemoryOne, memory_one_best_response, memory_one_value
from sepo_penalties.terminals import Terminal

PAYOFFS = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])
POLICIES, ROUNDS, RUNS = 100_000, 8, 5
JOINT = tuple(product((0, 1), repeat=2))


def seconds(run: Callable[[], object]) -> float:
    """The best of `RUNS` runs after one to warm up."""
    run()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def history_game(rounds: int) -> SequenceForm:
    """The dilemma whose players remember everything, from its ends."""
    ends = []
    for play in product(JOINT, repeat=rounds):
        moves = []
        for t, joint in enumerate(play):
            past = ["".join(f"{j[p]}{j[1 - p]}" for j in play[:t]) for p in (0, 1)]
            moves += [(p, past[p], joint[p]) for p in (0, 1)]
        ends.append(Terminal(1.0, moves, PAYOFFS[:, [a for a, _ in play], [b for _, b in play]].sum(axis=1).tolist()))
    return SequenceForm.from_terminals(ends)


def main() -> None:
    """Prints times."""
    rng = np.random.default_rng(0)
    policies, others = (MemoryOne.stationary(rng.uniform(size=(POLICIES, 5))) for _ in range(2))
    for label, horizon in ((f"{ROUNDS} rounds", (ROUNDS, None)), ("discount 0.875", (None, 0.875))):
        best = seconds(partial(memory_one_best_response, PAYOFFS, policies, 0, *horizon))
        value = seconds(partial(memory_one_value, PAYOFFS, [policies, others], *horizon))
        print(f"{POLICIES:,} memory-one policies, {label}: best responses {best:.3f} s, payoffs of pairs {value:.3f} s")
    few = MemoryOne(policies.table[: POLICIES // 10])
    best = seconds(lambda: memory_one_best_response(PAYOFFS, few, 0))
    print(f"{POLICIES // 10:,} memory-one policies, limit of means: best responses {best:.3f} s")
    sf = history_game(ROUNDS)
    kernel, p = kernel_of(sf), rng.uniform(size=(1, len(sf.infosets(1)), 1))
    policy = np.concatenate([p, 1 - p], axis=-1)
    best = seconds(lambda: batch_response_value(kernel, policy, 0))
    print(f"policy over {len(sf.infosets(1)):,} histories: one best response {best * 1e3:.2f} ms with numpy", end="")
    if HAS_NUMBA:
        both = seconds(lambda: batch_nash_conv(kernel, [policy, policy]))
        print(f", both players' best responses and payoffs {both * 1e3:.2f} ms with numba", end="")
    print()


if __name__ == "__main__":
    main()
