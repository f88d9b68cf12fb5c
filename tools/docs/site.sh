#!/bin/bash
# site.sh PYTHON: builds the documentation into build/site with PYTHON's MkDocs.
#
# What is read on the web is what is read in the checkout: the pages are copied with what they
# link to, each to where it lies there, so that links between folders hold.
set -euo pipefail
cd "$(dirname "$0")/../.."

pages=build/site-pages
rm -rf "$pages"
mkdir -p "$pages"
cp -r --parents README.md LICENSE docs samples workloads/README.md "$pages"
cp tools/docs/site.css "$pages"
find "$pages" -name __pycache__ -prune -exec rm -r {} +
"$1" -m mkdocs build --strict --clean -f tools/docs/mkdocs.yml
