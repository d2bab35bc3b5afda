#!/usr/bin/env python3
"""Tests of words.py: it finds planted phrases and leaves ordinary ones alone."""

import contextlib
import io
import re
import tempfile
import unittest
from pathlib import Path

import words


def found(text, name="a.cpp"):
    return [match[1].lower() for match in words.matches_in(text, name, words.compiled(words.RULES))]


PLANTED = [
    "a logit a gate", "a run a core", "one a layer", "a folder a room", "two bits a cell", "its cells a word", "cells_a_word",
    "probe_count", "struct Probe {", "automaton.probes", "search.refit_walk", "a film", "the softest", "surest", "HardTrials",
    "class Recording {", "struct Code", "the levels of a feature", "taken for", "wrong samples", "others to judge by",
    "it lands", "pictures that are moved", "page of a circuit", "anew", "dearest", "in vain", "whoever", "whatsoever",
    "a quick way", "beside", "most_bytes", "least_samples", "received another", "received it of a circuit",
    "expected more memory, received none", "expected one of the four losses", "expected to write it"]


class FindsPhrases(unittest.TestCase):
    def test_planted(self):
        for phrase in PLANTED:
            with self.subTest(phrase):
                self.assertTrue(found(phrase))

    def test_every_rule_finds_a_planted_phrase(self):
        for pattern, _, _ in words.RULES:
            with self.subTest(pattern):
                self.assertTrue(any(re.search(pattern, phrase, re.IGNORECASE) for phrase in PLANTED))

    def test_across_lines(self):
        self.assertEqual(found("/// The class that a sample is taken\n/// for."), ["taken for"])
        self.assertEqual(found("# one logit a\n# gate"), ["one logit a gate"])
        self.assertEqual(found('fail("expected x, received "\n     "another");'), ["received another"])

    def test_line_numbers(self):
        self.assertEqual(words.matches_in("a\n// b\nanew\n", "a.cpp", words.compiled(words.RULES))[0][0], 3)

    def test_plain_english(self):
        for phrase in [
                "one logit per gate", "most_certain_gates", "most_significant", "least_certain", "as quickly as possible",
                "samples a second", "the island", "landscape", "a step", "an input", "received none", "the judgement",
                "linear probing of a probe", "besides", "a new value", "expected a file"]:
            with self.subTest(phrase):
                self.assertEqual(found(phrase), [])

    def test_old_keys_are_allowed_where_they_are_mapped(self):
        self.assertEqual(found("automaton.probes", "boolgrad/model/spec.cpp"), [])
        self.assertEqual(found("anew", "boolgrad/model/spec.cpp"), ["anew"])


class ScansFiles(unittest.TestCase):
    def test_a_planted_phrase_fails_and_is_named(self):
        with tempfile.TemporaryDirectory(dir=words.ROOT / "tests" / "words") as folder:
            path = Path(folder) / "planted.cpp"
            for text, code in [("// Compute it again.\n", 0), ("// Fine.\n// Compute it anew.\n", 1)]:
                path.write_text(text)
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    self.assertEqual(words.main([folder]), code)
                if code:
                    self.assertIn("planted.cpp:2: 'anew': again\n", printed.getvalue())

    def test_exceptions_exist(self):
        for name in {name for _, _, files in words.RULES for name in files}:
            self.assertTrue((words.ROOT / name).is_file(), name)

    def test_covers_the_repository(self):
        names = {name for _, name in words.files_of([])}
        for name in ["boolgrad/cli/main.cpp", "README.md", "Makefile", "docs/training.md", "experiments/add.toml",
                     "web/style.css", "tests/train/run_test.cpp", "CMakeLists.txt"]:
            self.assertIn(name, names)
        self.assertNotIn("tests/words/words.py", names)


if __name__ == "__main__":
    unittest.main()
