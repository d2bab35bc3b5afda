#!/usr/bin/env python3
"""Tests of the checks themselves: each of them has to find what it looks for."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests/docs"), str(ROOT / "tools")]

import build_site  # noqa: E402
import doc_commands  # noqa: E402
import links  # noqa: E402
import pages  # noqa: E402


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Links(Folder):
    def faults(self, text):
        return links.faults(self.write("docs/page.md", text), self.folder)

    def test_what_exists_is_right(self):
        self.write("docs/other.md", "# A title\n\n## A `code` heading\n")
        self.write("code.h", "")
        text = "# Top\n[a](other.md) [b](other.md#a-code-heading) [c](../code.h) [d](#top) [e](https://example.org/x)\n"
        self.assertEqual(self.faults(text), [])

    def test_missing_files_and_headings_are_found(self):
        self.write("docs/other.md", "# A title\n")
        found = self.faults("[a](nothing.md)\n\n![b](nothing.png)\n[c](other.md#b)\n[d]: gone.md\n<img src='gone.gif'>\n")
        self.assertEqual([fault.split(":")[1] for fault in found], ["1", "3", "4", "5", "6"])

    def test_code_and_comments_have_no_links(self):
        self.assertEqual(self.faults("`[a](b.md)`\n\n```\n[c](d.md)\n```\n<!-- [e](f.md) -->\n"), [])

    def test_headings_in_code_are_none(self):
        self.assertEqual(len(self.faults("```\n# top\n```\n[a](#top)\n")), 1)

    def test_anchors_that_differ_between_github_and_the_site_are_found(self):
        self.assertEqual(len(self.faults("## From a - b\n[a](#from-a---b)\n[b](#from-a-b)\n")), 2)

    def test_files_outside_of_the_repository_are_found(self):
        self.assertEqual(len(self.faults("[a](../../..)\n")), 1)


class Commands(Folder):
    def setUp(self):
        super().setUp()
        program = "#!/bin/sh\necho 'compiler   C'\necho 'SIMD       S'\n"
        self.program = self.write("bin/boolgrad", program)
        self.program.chmod(0o755)

    def check(self, text, compared=True, write=False):
        self.page = self.write("page.md", text)
        return doc_commands.check_page(self.page, self.program, compared, write)

    def test_equal_output_passes(self):
        self.assertEqual(self.check("```sh\necho a\necho b\n```\n\n```text\na\nb\n```\n"), 0)

    def test_other_output_fails(self):
        self.assertEqual(self.check("```sh\necho a\n```\n\n```text\nb\n```\n"), 1)

    def test_other_output_passes_where_it_is_not_compared(self):
        self.assertEqual(self.check("```sh\necho a\n```\n\n```text\nb\n```\n", compared=False), 0)

    def test_a_failing_command_fails_everywhere(self):
        self.assertEqual(self.check("```sh\nfalse\necho a\n```\n", compared=False), 1)
        self.assertEqual(self.check("```sh\nfalse | cat\n```\n", compared=False), 1)

    def test_a_page_without_commands_fails(self):
        self.assertEqual(self.check("```sh-session\necho a\n```\n"), 1)

    def test_blocks_that_are_not_to_run_are_not(self):
        text = "<!-- not run: reasons -->\n```sh\nfalse\n```\n\n```sh\ntrue\n```\n"
        self.assertEqual(self.check(text), 0)

    def test_blocks_share_a_folder_that_is_empty_at_first(self):
        self.assertEqual(self.check("```sh\nls\necho 1 > a\n```\n```text\n```\n```sh\nls\n```\n```text\na\n```\n"), 0)

    def test_the_program_is_found_first(self):
        self.assertEqual(self.check("```sh\nboolgrad\n```\n```text\ncompiler   C\nSIMD       S\n```\n"), 0)

    def test_times_and_rates_are_not_compared(self):
        pairs = [
            ("solved after 70 steps, 9.7 s", "solved after 70 steps, 12.0 s"),
            ("speed 380.6 million cell updates per second", "speed 12 million cell updates per second"),
            ("40.9 million samples a second on one core", "0.4 million samples a second on one core"),
        ]
        for a, b in pairs:
            self.assertEqual(doc_commands.normalised([a]), doc_commands.normalised([b]))
        table = ["seed  seconds", "   1      0.3", "   2     12.5", "2 of 2"]
        other = ["seed  seconds", "   1     10.3", "   2      2.5", "2 of 2"]
        self.assertEqual(doc_commands.normalised(table), doc_commands.normalised(other))

    def test_counts_are_compared(self):
        for a, b in [("after 70 steps, 1 s", "after 80 steps, 1 s"), ("seeds\n 1", "seeds\n 2")]:
            self.assertNotEqual(doc_commands.normalised(a.split("\n")), doc_commands.normalised(b.split("\n")))

    def test_write_renews_what_differs_and_keeps_what_differs_in_times_only(self):
        text = "```sh\necho a\n```\n\n```text\nb\n```\n\n```sh\necho 2 s\n```\n\n```text\n1 s\n```\n"
        self.assertEqual(self.check(text, write=True), 0)
        self.assertEqual(self.page.read_text(), text.replace("b\n", "a\n"))

    def test_the_build_is_what_decides_about_bits(self):
        self.assertEqual(doc_commands.build_of(self.program), ["compiler   C", "SIMD       S"])


class Pages(Folder):
    def test_included_files_are_compared_word_for_word(self):
        self.write("a.txt", "one\n")
        pages.ROOT = self.folder
        right = self.write("right.md", "<!-- file: a.txt -->\n```cpp\none\n```\n")
        wrong = self.write("wrong.md", "<!-- file: a.txt -->\n```cpp\ntwo\n```\n")
        self.assertEqual(pages.included_faults(right), [])
        self.assertEqual(len(pages.included_faults(wrong)), 1)


class Staging(Folder):
    def staged(self, text, path="docs/guide.md"):
        path = pathlib.Path(path)
        return build_site.staged(text, path, build_site.page_of(path), self.folder)

    def test_links_within_docs_stay(self):
        self.assertEqual(self.staged("[a](faq.md#use)"), "[a](faq.md#use)")

    def test_links_to_pages_outside_of_docs_follow_them(self):
        self.assertEqual(self.staged("[a](../CONTRIBUTING.md)"), "[a](contributing.md)")
        self.assertEqual(self.staged("[a](docs/faq.md)", "CONTRIBUTING.md"), "[a](faq.md)")

    def test_sources_become_pages(self):
        self.assertEqual(self.staged("[a](../Makefile)"), "[a](source/Makefile.html)")
        self.assertIn("demo:", (self.folder / "source/Makefile.html").read_text())

    def test_folders_become_lists(self):
        self.assertEqual(self.staged("[a](../experiments)"), "[a](source/experiments.html)")
        self.assertIn('href="experiments/life.toml.html"', (self.folder / "source/experiments.html").read_text())
        self.assertTrue((self.folder / "source/experiments/life.toml.html").exists())

    def test_code_stays(self):
        text = "`[a](../Makefile)`\n```\n[a](../Makefile)\n```\n"
        self.assertEqual(self.staged(text), text)


if __name__ == "__main__":
    unittest.main()
