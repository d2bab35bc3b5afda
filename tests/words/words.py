#!/usr/bin/env python3
"""Finds words that the project does not use, and names the usual ones.

    python3 tests/words/words.py                 # the whole repository
    python3 tests/words/words.py boolgrad/cli    # some files or folders

Prints one line per match and exits with 1 if there is any.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

FOLDERS = ["boolgrad", "tests", "examples", "experiments", "bench", "tools", "cmake", "docs", "web", "python"]
FILES = ["README.md", "CONTRIBUTING.md", "Makefile", "CMakeLists.txt"]
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".inl", ".comp", ".glsl", ".in", ".cmake", ".txt", ".toml", ".md",
            ".py", ".sh", ".js", ".html", ".css", ".mk"}

# Results are data; their texts were written by the version that measured them.
SKIPPED = ["bench/results/"]

# A thing per thing: "a logit a gate", "one a layer".
THINGS = ("activation|bit|block|byte|case|cell|channel|class|column|core|element|entry|feature|file|folder|frame|gate|"
          "generation|grid|group|input|instruction|kernel|lane|layer|level|line|logit|member|module|neighbour|node|number|"
          "operand|output|pair|pass|pixel|point|query|register|room|round|row|run|sample|seed|slot|stage|step|table|"
          "task|test|thread|value|variable|variation|warp|wire|word")

# Files that name old keys of experiments.
OLD_KEYS = ["boolgrad/model/spec.cpp", "docs/reference/experiment-keys.md", "tests/train/experiment_test.cpp",
            "tests/train/sweep_test.cpp"]

# What is found, what to write instead, and where it may stay.
RULES = [
    # One thing per other thing.
    (rf"\b(?:an?|one|two|\d+) (?:{THINGS})s? an? (?:{THINGS})\b", "one ... per ...", []),
    (rf"\b(?:{THINGS})s a (?:step|sample|cell|gate|core|word|thread)\b", "... per ...", []),
    (rf"\bone an? (?:{THINGS})\b", "one per ...", []),
    (r"_an?_(?:word|gate|cell|core|step|sample|row|thread|lane|group|block|class|layer|feature|pixel|channel|frame|task)\b",
     "_per_...", []),
    # Words of the field.
    (r"\bprobes\b|\bprobe_\w+|(?-i:\bProbe\b)", "evaluation starts", OLD_KEYS),
    (r"\brefit(?:s|ted|ting|_\w+)?\b", "local search", OLD_KEYS),
    (r"\bfilm(?:s|ed|ing)?\b", "animation", []),
    (r"\bsoftest\b", "lowest soft loss", []),
    (r"\bsurest\b", "most certain", []),
    (r"\bhard_trials\b|\bHardTrials\b|\bTrialRollout\b|\btrial_rollout\b", "moves of a local search", []),
    (r"\b(?:class|struct) (?:Code|Film|Forms|Numbers|Places|Recording|Rows|Trials|Walk)\b(?!::)",
     "a name that says what it is", []),
    (r"\blevels of (?:an?|each|every|the) features?\b", "thresholds", []),
    (r"\btaken for\b|\btakes? (?:each|one|a) class for\b", "predicted as", []),
    (r"\bwrong samples\b", "errors", []),
    (r"\bothers to judge by\b|\bjudged (?:by|on)\b|\bto be judged\b|\bjudges?\b", "evaluated on", []),
    (r"\b(?:to land|lands)\b", "converge", []),
    (r"\bpictures that are moved\b", "random shifts", []),
    (r"\bpage of (?:a|the) circuit\b", "HTML viewer", []),
    # Plain English.
    (r"\banew\b", "again", []),
    (r"\bdear(?:er|est)?\b", "expensive", []),
    (r"\bin vain\b", "without success", []),
    (r"\b(?:who|where|how|what)soever\b", "any", []),
    (r"\bwhoever\b", "the caller", []),
    (r"\bquick\b", "fast", []),
    (r"\bbeside\b", "next to, besides", []),
    # Identifiers.
    (r"\bmost_(?!alike|certain|frequent|likely|probable|recent|significant)[a-z]\w*", "max_...", []),
    (r"\bleast_(?!certain|significant|squares)(?:bytes|samples|runs|ms|size|count|steps|cells|gates)\w*", "min_...", []),
    # Messages.
    (r"\breceived (?:none|another|others|something else|it) of an?\b", "say what is not supported", []),
    (r"\breceived (?:another|others|something else)\b", "name what was received", []),
    (r"\bexpected more memory\b", "out of memory: ... requested, ... free", []),
    (r"\bexpected one of the (?:two|three|four|five|six)\b", "unknown ... N", []),
    (r"\bexpected to (?:read|write|open|create|make|begin|load|replace|allocate)\b", "cannot ...", []),
]

# Files that must contain the words: this list, its test, and the history of names.
ALLOWED = ["tests/words/words.py", "tests/words/words_test.py", "CHANGELOG.md"]


def compiled(rules):
    return [(re.compile(pattern, re.IGNORECASE), instead, set(files)) for pattern, instead, files in rules]


def matches_in(text, name, rules):
    """All matches in a text as (line number, found, instead). A phrase may continue on the next line of a comment."""
    # Comment marks at the beginning of a line are no words. Newlines keep the line numbers.
    plain = re.sub(r"(?m)^[ \t]*(?://[/!]?|#|\*|>|--)[ \t]?", lambda mark: " " * len(mark.group()), text)
    # Adjacent string literals are one message.
    plain = re.sub(r"\"(\s*\n\s*)(?:f|R)?\"", lambda gap: " " + gap.group(1) + " ", plain)
    found = []
    for pattern, instead, files in rules:
        if name in files:
            continue
        spaced = re.compile(pattern.pattern.replace(" ", r"\s+"), pattern.flags)
        for match in spaced.finditer(plain):
            line = plain.count("\n", 0, match.start()) + 1
            found.append((line, " ".join(match.group().split()), instead))
    return sorted(found)


def files_of(arguments):
    roots = [Path(a).resolve() for a in arguments] or [ROOT / name for name in FOLDERS + FILES]
    for root in roots:
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            known = path.suffix in SUFFIXES or path.name == "Makefile"
            if path.is_file() and known and name not in ALLOWED and not name.startswith(tuple(SKIPPED)):
                yield path, name


def main(arguments):
    rules = compiled(RULES)
    count = 0
    for path, name in files_of(arguments):
        text = path.read_text(encoding="utf-8", errors="replace")
        for line, found, instead in matches_in(text, name, rules):
            print(f"{name}:{line}: '{found}': {instead}")
            count += 1
    if count:
        print(f"{count} matches")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
