#!/usr/bin/env python3
"""Writes docs/reference/python-api.md, the reference of the Python package, from its docstrings and signatures.

    build/python/bin/python tools/python_reference.py            # compare
    build/python/bin/python tools/python_reference.py --write    # renew

Needs the package with everything that its modules import: make python-torch.
"""

import argparse
import ast
import dataclasses
import importlib
import inspect
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/python-api.md"
MODULES = ["boolgrad", "boolgrad.callbacks", "boolgrad.geometry", "boolgrad.ops", "boolgrad.sklearn", "boolgrad.torch",
           "boolgrad.jax", "boolgrad.compat.difflogic", "boolgrad.compat.torchlogix"]
HEAD = """# Python API

Written from the docstrings of the package by `tools/python_reference.py`. `help(boolgrad.train)` shows the same in an interpreter. The
guides are [Python](../python.md), [PyTorch](../pytorch.md) and [JAX](../jax.md).
"""


def public(module):
    """The public names of a module, in order: those of __all__, or the classes and functions that it defines."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name, value in vars(module).items()
                 if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__]
    return [name for name in names if callable(getattr(module, name))]


def without_types(signature):
    """The signature of a compiled function with its defaults and without its types, which are long."""
    parts, depth, keep = [], 0, True
    for c in signature:
        if c in "([{":
            depth += 1
        if depth == 1 and c == ":":
            keep = False
        elif depth == 1 and c in ",=":
            keep = True
        if c in ")]}":
            depth -= 1
            keep = keep or depth == 0
        if keep:
            parts.append(c)
        if depth == 0 and c == ")":
            break
    return re.sub(r"\s*=\s*", "=", "".join(parts))


def described(value):
    """Signature and docstring of a function or method."""
    compiled = getattr(value, "__nb_signature__", None)
    if compiled:
        signature = compiled[0][0].removeprefix("def ")
        defaults = compiled[0][2] or ()
        for number, default in enumerate(defaults):
            signature = signature.replace(f"\\{number}", repr(default))
        signature = without_types(signature[signature.index("(") :])
        text = compiled[0][1] or ""
    else:
        parameters = [p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(value).parameters.values()]
        signature = str(inspect.Signature(parameters))
        text = inspect.getdoc(value) or ""
    return re.sub(r"\((?:self|cls)(?:, )?(?:/(?:, )?)?", "(", signature), inspect.cleandoc(text)


def as_markdown(text):
    """A docstring: lists of arguments become lists, examples become code blocks."""
    lines, result = text.splitlines(), []
    in_example = in_list = False
    for i, line in enumerate(lines):
        if line.startswith(">>>") and not in_example:
            result += ["```python"]
            in_example = True
        if in_example and not line.strip():
            result += ["```", ""]
            in_example = False
            continue
        if in_example:
            result.append(line)
            continue
        section = re.fullmatch(r"(Args|Attributes|Parameters|Returns):?", line)
        if section:
            result += ([""] if result and result[-1] else []) + [f"{section.group(1)}:", ""]
            in_list = True
            continue
        if re.fullmatch(r"-{3,}", line):  # under a section, as NumPy writes it
            continue
        numpy_style = re.fullmatch(r"(\w+(?:, \w+)*) : (.*)", line)
        argument = re.fullmatch(r"    (\*{0,2}\w+(?:, \w+)*): (.*)", line)
        if in_list and numpy_style:
            result.append(f"- `{numpy_style.group(1)}` ({numpy_style.group(2)}):")
        elif in_list and argument:
            result.append(f"- `{argument.group(1)}`: {argument.group(2)}")
        elif in_list and line.startswith("    "):
            result.append("  " + line.strip())
        else:
            in_list = in_list and not line.strip() and i + 1 < len(lines) and lines[i + 1].startswith("    ")
            result.append(line.strip())
    return "\n".join(result + (["```"] if in_example else [])).strip()


def entry(heading, name, value):
    signature, text = described(value)
    return f"{heading} {name}\n\n```python\n{name}{signature}\n```\n\n{as_markdown(text)}\n"


def is_new(cls, name):
    """Whether a class has a docstring of its own for a member, not that of a library's base class."""
    return any(name in vars(base) for base in cls.__mro__ if base.__module__.startswith("boolgrad"))


def fields(value):
    """The fields of a dataclass and the strings under them."""
    if not dataclasses.is_dataclass(value):
        return []
    body = ast.parse(inspect.getsource(value)).body[0].body
    return [(one.target.id, " ".join(text.value.value.split()))
            for one, text in zip(body, body[1:]) if isinstance(one, ast.AnnAssign)]


def class_entry(name, value):
    text = as_markdown(inspect.cleandoc(value.__doc__ or ""))
    constructor = ""
    if is_new(value, "__init__") and inspect.isfunction(value.__init__):  # models are loaded, not constructed
        constructor = f"```python\n{name}{described(value.__init__)[0]}\n```\n\n"
    parts = [f"### {name}\n\n{constructor}{text}\n"]
    members, properties = [], [f"| `{name}` | {text} |" for name, text in fields(value)]
    for member in dir(value):
        if member.startswith("_") or not is_new(value, member):
            continue
        own = inspect.getattr_static(value, member)
        if isinstance(own, property) or type(own).__name__ == "nb_property":
            line = " ".join(inspect.cleandoc(own.__doc__ or "").split("\n\n")[0].split())
            properties.append(f"| `{member}` | {line} |")
        elif callable(getattr(value, member)) and (described(getattr(value, member))[1]):
            signature, text = described(getattr(value, member))
            members.append(f"**`{member}{signature}`**\n\n{as_markdown(text)}\n")
    if properties:
        parts.append("| property | |\n|---|---|\n" + "\n".join(properties) + "\n")
    return "\n".join(parts + members)


def reference():
    parts = [HEAD]
    for name in MODULES:
        module = importlib.import_module(name)
        parts.append(f"## {name}\n\n{as_markdown(inspect.cleandoc(module.__doc__))}\n")
        for own in public(module):
            value = getattr(module, own)
            parts.append(class_entry(own, value) if inspect.isclass(value) else entry("###", own, value))
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="renew the page")
    options = parser.parse_args()
    text = reference()
    if options.write:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit(f"{PAGE.relative_to(ROOT)} is not what the docstrings say: renew it with --write")


if __name__ == "__main__":
    main()
