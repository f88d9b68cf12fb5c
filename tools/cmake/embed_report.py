#!/usr/bin/env python3
"""embed_report.py OUTPUT PAGE STYLE SCRIPT...: the HTML report's page as a C++ source.

Puts the style and the scripts into the page, as one scope, and their hashes into its content
security policy, so that nothing else can run in it. What is left to fill in is @DATA@; what stands
before and after it are the two constants.
"""
import base64
import hashlib
import pathlib
import sys

POLICY = ("default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none';"
          " form-action 'none'")
CHUNK = 8000  # characters of a literal, far below every compiler's limit


def policy_hash(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def literal(text):
    pieces = [text[at:at + CHUNK] for at in range(0, len(text), CHUNK)]
    return "\n    ".join(f'R"tutti_page({piece})tutti_page"' for piece in pieces)


def main():
    output, page, style, *scripts = map(pathlib.Path, sys.argv[1:])
    css = "\n" + style.read_text()
    code = "\n".join(script.read_text() for script in scripts)
    js = f'\n(() => {{\n"use strict";\n{code}}})();\n'
    for text in (css, js):
        assert "</" not in text and "<!--" not in text, "would end its element"
    policy = POLICY.format(script=policy_hash(js), style=policy_hash(css))
    text = page.read_text()
    for name, value in (("CSP", policy), ("STYLE", css), ("SCRIPT", js)):
        assert text.count(f"@{name}@") == 1, name
        text = text.replace(f"@{name}@", value)
    before, after = text.split("@DATA@")
    output.write_text(f"""// Made by tools/cmake/embed_report.py.
#include "analyzer/report/html_page.h"

namespace tutti::analyzer {{

const char* const kPageBeforeData =
    {literal(before)};

const char* const kPageAfterData =
    {literal(after)};

}}  // namespace tutti::analyzer
""")


if __name__ == "__main__":
    main()
