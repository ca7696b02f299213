#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the documents to the repository: paths and links exist, verbs and options are those of --help, and what stands
below a "$ joulecast ..." line is what the program prints.

    check_docs.py [--rewrite] SOURCE_FOLDER joulecast
"""
import pathlib
import re
import shlex
import subprocess
import sys

FOLDERS = "bench|cmake|data|docs|examples|fuzz|include|src|tests|tools|[.]ci"
PATH = re.compile(rf"(?<![\w./~-])((?:{FOLDERS})/[\w./*-]*[\w/*])")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
CALL = re.compile(r"(?:^|[\s`$/])joulecast ([a-z][a-z-]*)((?:[ \t]+[^\s`|>]+)*)", re.MULTILINE)


def pages(root):
    yield from (p for p in (root / n for n in ("README.md", "ARCHITECTURE.md", "HACKING.md", "CHANGELOG.md", "SECURITY.md")))
    yield from sorted((root / "docs").rglob("*.md"))


def code_of(text):
    """Everything set as code: fenced blocks, indented lines, spans."""
    fenced = re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^    .*$", text, re.MULTILINE)
    return "\n".join(fenced + indented + re.findall(r"`[^`\n]+`", text))


def check_paths(root, page, text, errors):
    for path in sorted(set(PATH.findall(text))):
        pattern = path.replace("NAME", "*")  # fuzz/NAME_fuzz.cpp
        if not any(root.glob(pattern)):
            errors.append(f"there is no {path}")
    for link in LINK.findall(text):
        if "://" not in link and not link.startswith("mailto:") and not (page.parent / link).exists():
            errors.append(f"link to {link} leads nowhere")


def help_of(program, words, helps):
    """The help of a verb or of a verb and its subcommand; None where there is none."""
    if words not in helps:
        done = subprocess.run([program, *words.split(), "--help"], capture_output=True, text=True)
        helps[words] = done.stdout if done.returncode == 0 else None
    return helps[words]


def check_calls(program, text, helps, errors):
    for verb, rest in CALL.findall(code_of(text)):
        text = help_of(program, verb, helps)
        if text is None:
            errors.append(f"there is no verb '{verb}'")
            continue
        subcommand = rest.split()[0] if rest.split() else ""
        if "Subcommands:" in text and re.search(rf"^  {re.escape(subcommand)} ", text, re.MULTILINE):
            verb = f"{verb} {subcommand}"
            text = help_of(program, verb, helps)
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", rest):
            if not re.search(rf"(?<!\S){option}(?![a-z-])", text):
                errors.append(f"joulecast {verb} has no {option}")


def printed_by(root, program, command):
    words = shlex.split(command)
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    return subprocess.run([program, *words[1:]], cwd=root, env=environment, capture_output=True, text=True).stdout


def with_fresh_outputs(root, program, text):
    """Fenced blocks whose first line is "$ joulecast ..."."""
    def fresh(match):
        return match[1] + printed_by(root, program, match[2]) + match[4]
    return re.sub(r"(^```\w*\n\$ (joulecast [^\n]*)\n)(.*?)(^```$)", fresh, text, flags=re.MULTILINE | re.DOTALL)


def main(arguments):
    rewriting = arguments[:1] == ["--rewrite"]
    root, program = pathlib.Path(arguments[rewriting]).resolve(), pathlib.Path(arguments[rewriting + 1]).resolve()
    helps, failed = {}, 0
    for page in pages(root):
        if not page.exists():
            print(f"{page.relative_to(root)}: is missing")
            failed += 1
            continue
        text, errors = page.read_text(encoding="utf-8"), []
        fresh = with_fresh_outputs(root, program, text)
        if rewriting and fresh != text:
            page.write_text(fresh, encoding="utf-8")
        elif fresh != text:
            errors.append("shows other output than the program prints: make docs")
        check_paths(root, page, text, errors)
        check_calls(program, text, helps, errors)
        for error in errors:
            print(f"{page.relative_to(root)}: {error}")
        failed += len(errors)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
