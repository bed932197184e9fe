"""Times SuperMalloc's search beside `cargo xtask solve` on the published hard set, in turns.

SuperMalloc is the engine of the PyPI package `omnimalloc` (Apache-2.0). Needs `pip install omnimalloc==1.0.0` and
`cargo build --release -p xtask`. Run it as `python3 xtask/peers/supermalloc.py FOLDER [ROUNDS] [SECONDS]`, where FOLDER
holds `A.1048576.csv` and its like; SECONDS is where SuperMalloc is given up. Both stop at the first placement within the
capacity, except that `solve` goes on to the lower bound; both use one thread. Prints medians of wall time and their ratio.
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


def ours(path):
    """Wall seconds inside the solver and the peak."""
    solve = ROOT / "target/release/xtask"
    line = subprocess.run([solve, "solve", path], capture_output=True, text=True, check=True).stdout
    answer = json.loads(line)
    return answer["micros"] / 1e6, answer["peak"]


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


main()
