"""Times SuperMalloc's search beside `cargo xtask solve` on the published hard set, in turns.

SuperMalloc is the engine of the PyPI package `omnimalloc` (Apache-2.0). Needs `pip install omnimalloc==1.0.0` and
`cargo build --release -p xtask`. Run it as `python3 xtask/peers/supermalloc.py FOLDER [ROUNDS] [SECONDS]`, where FOLDER
holds `A.1048576.csv` and its like; SECONDS is where SuperMalloc is given up. Both use one thread. Prints medians of wall
time and their ratio.

Both go on after a first placement within the capacity while a better one may exist. Where SuperMalloc is given up while it
does so, a second line compares first placements instead: the least budget, in seconds there and in steps here, that
yields one, found by bisection, and the wall time of a run with it.
"""

import csv
import json
import pathlib
import statistics
import subprocess
import sys
import time

import omnimalloc
from omnimalloc import Allocation
from omnimalloc._cpp import Partition, try_solve_many
from omnimalloc.allocators.supermalloc import DEFAULT_HEURISTICS

ROOT = pathlib.Path(__file__).resolve().parents[2]


def supermalloc(allocations, capacity, orders, seconds):
    """Wall seconds and the peak, or none where it was given up."""
    start = time.perf_counter()
    base = Partition.from_allocations(allocations)
    parts = [base.reorder("".join(order)).with_bound(capacity + 1) for order in orders]
    found = try_solve_many(
        parts, capacity + 1, None, canonical=True, dominance=True, floor_inference=True, monotonic_floor=True,
        decompose=True, timeout=seconds, num_threads=1,
    )
    return time.perf_counter() - start, found and found.peak


def ours(path, effort="quick"):
    """Wall seconds inside the solver and the peak."""
    solve = ROOT / "target/release/xtask"
    command = [solve, "solve", path, "--effort", str(effort)]
    line = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    answer = json.loads(line)
    return answer["micros"] / 1e6, answer["peak"]


def least(fits, high, fineness):
    """The least budget that fits, to within a fraction, or none if not even `high` does."""
    if not fits(high):
        return None
    low = 0
    while high - low > fineness * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def first_fits(path, allocations, rounds, seconds):
    """Prints the wall time to a first placement within the capacity, ours and each single order's, in turns."""
    steps = least(lambda budget: ours(path, int(budget))[1] <= 1048576, 30_000, 0.01)
    budgets = {
        "".join(order): (order, least(lambda t: supermalloc(allocations, 1048576, [order], t)[1], seconds, 0.02))
        for order in DEFAULT_HEURISTICS
    }
    budgets = {name: found for name, found in budgets.items() if found[1]}
    times = {"ours": [], **{name: [] for name in budgets}}
    for _ in range(rounds):
        times["ours"].append(ours(path, int(steps))[0])
        for name, (order, budget) in budgets.items():
            # A budget on the edge may miss by a little of noise; what it takes then is still less than a first placement.
            times[name].append(supermalloc(allocations, 1048576, [order], budget)[0])
    median = {name: statistics.median(values) * 1e3 for name, values in times.items()}
    mine = median.pop("ours")
    name = min(median, key=median.get)
    print(f"{'  first fit':<16}{mine:>10.1f}{'':>34}{median[name]:>13.1f}{median[name] / mine:>8.1f}x  {name}", flush=True)


def main():
    omnimalloc.set_max_threads(1)
    folder = pathlib.Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 10.0
    print(f"{'file':<16}{'ours ms':>10}{'peak':>10}{'all three ms':>14}{'peak':>10}{'best one ms':>13}{'ratio':>9}")
    for path in sorted(folder.glob("*.1048576.csv")):
        with open(path) as file:
            allocations = tuple(
                Allocation(id=int(row["id"]), size=int(row["size"]), start=int(row["lower"]), end=int(row["upper"]))
                for row in csv.DictReader(file)
            )
        times = {"ours": [], "all": [], **{"".join(order): [] for order in DEFAULT_HEURISTICS}}
        peaks = {}
        for _ in range(rounds):
            took, peaks["ours"] = ours(path)
            times["ours"].append(took)
            took, peaks["all"] = supermalloc(allocations, 1048576, DEFAULT_HEURISTICS, seconds)
            times["all"].append(took)
            for order in DEFAULT_HEURISTICS:
                name = "".join(order)
                took, peaks[name] = supermalloc(allocations, 1048576, [order], seconds)
                times[name].append(took)
        median = {name: statistics.median(values) * 1e3 for name, values in times.items()}
        solved = [median[name] for name in times if name != "ours" and peaks[name]]
        best = min(solved, default=None)
        print(
            f"{path.name:<16}{median['ours']:>10.1f}{peaks['ours']:>10}{median['all']:>14.1f}{peaks['all'] or 'none':>10}"
            f"{best or float('nan'):>13.1f}{(best or seconds * 1e3) / median['ours']:>8.1f}{'x' if best else '+'}",
            flush=True,
        )
        if any(took > seconds * 1e3 for took in median.values()):
            first_fits(path, allocations, rounds, seconds)


main()
