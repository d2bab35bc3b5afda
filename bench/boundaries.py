#!/usr/bin/env python3
"""Updates the tables and plots of docs/studies/boundaries.md from one run of `boolgrad bench geometry`."""
import argparse
import json
import subprocess

import common

PAGE = "docs/studies/boundaries.md"
SIDES = [("external", True, "external, circles meet"), ("external", False, "external, disks apart"),
         ("internal", True, "internal, circles meet"), ("internal", False, "internal, one disk inside")]
SHOWN = [0.5, 0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-6, 1e-8]
TEMPERATURES = [0.01, 0.1, 1]


def percent(error):
    return f"{100 * error:.2g} %" if error < 0.1 else f"{100 * error:.0f} %"


def near(distance, wanted):
    return abs(distance - wanted) <= 1e-6 * wanted


def error_table(rows):
    lines = ["| side | distance | exact | " + " | ".join(f"k = {k}" for k in TEMPERATURES) + " |",
             "|---|---:|---:|" + "---:|" * len(TEMPERATURES)]
    for tangency, meeting, name in SIDES:
        for row in rows:
            if (row["tangency"], row["meeting"]) != (tangency, meeting):
                continue
            if not any(near(row["distance"], wanted) for wanted in SHOWN):
                continue
            smoothed = " | ".join(percent(error) for error in row["smoothed"])
            lines.append(f"| {name} | {row['distance']:.0e} | {row['exact']:.0e} | {smoothed} |"
                         if row["distance"] < 1e-3 else
                         f"| {name} | {row['distance']:.3g} | {row['exact']:.0e} | {smoothed} |")
    return lines


def error_summary(rows):
    """The range of errors at distances from 0.001 to 0.1, and the errors at 0.01 with k = 0.1."""
    middle = [row for row in rows if 0.999e-3 <= row["distance"] <= 0.1001]
    exact = max(row["exact"] for row in middle)
    lines = [f"At distances from 0.001 to 0.1, the error of the exact method is at most {exact:.0e}. That of the "
             "smoothed method is"]
    for i, k in enumerate(TEMPERATURES):
        errors = [row["smoothed"][i] for row in middle]
        lines.append(f"{percent(min(errors))} to {percent(max(errors))} with k = {k}"
                     + ("." if k == TEMPERATURES[-1] else ","))
    at = {(row["tangency"], row["meeting"]): row["smoothed"][1] for row in rows if near(row["distance"], 0.01)}
    lines.append("At distance 0.01 with k = 0.1, it is "
                 f"{percent(at['external', True])} (circles meet) and {percent(at['external', False])} (disks "
                 f"apart) near external tangency, {percent(at['internal', True])} and "
                 f"{percent(at['internal', False])} near internal tangency.")
    return [" ".join(lines)]


def approach_table(rows):
    lines = ["| distance | external: change | / √distance | internal: change | / √distance | beyond either |",
             "|---:|---:|---:|---:|---:|---:|"]
    for outer in rows:
        if outer["tangency"] != "external":
            continue
        inner = next(row for row in rows
                     if row["tangency"] == "internal" and row["distance"] == outer["distance"])
        root = outer["distance"] ** 0.5
        beyond = max(outer["beyond"], inner["beyond"])
        lines.append(f"| {outer['distance']:.0e} | {outer['change']:.3e} | {outer['change'] / root:.4f} | "
                     f"{inner['change']:.3e} | {inner['change'] / root:.4f} | {beyond:.0e} |")
    return lines


def fit_table(rows):
    lines = ["| problem | method | steps | smoothed steps | area error | result |", "|---|---|---:|---:|---:|---|"]
    for row in rows:
        end = "no gradient: stuck" if row["stuck"] else "converged" if row["converged"] else "not converged"
        steps = row["steps"]
        smoothed = min(row["smoothed_steps"], steps)
        lines.append(f"| {row['problem']} | {row['method']} | {steps} | {smoothed} | {row['error']:.0e} | {end} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boolgrad", default=str(common.ROOT / "build/release/boolgrad"))
    options = parser.parse_args()
    answer = subprocess.run(
        [options.boolgrad, "bench", "geometry", "--repeat", "1", "--plots", str(common.ROOT / "docs/pictures"),
         "--json"], check=True, capture_output=True, text=True)
    study = json.loads(answer.stdout.splitlines()[-1])["geometry"]
    for name, lines in [("errors", error_table(study["errors"])),
                        ("summary", error_summary(study["errors"])),
                        ("approach", approach_table(study["approach"])),
                        ("fits", fit_table(study["fits"]))]:
        common.write_documentation(f"bench/boundaries.py {name}", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
