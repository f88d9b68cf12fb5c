#!/usr/bin/env python3
"""extract_digits.py WHEEL OUT: the digits table (64 pixels 0..16 and a label a line)."""
import gzip
import os
import sys
import zipfile

wheel, out = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    table = gzip.decompress(archive.read("sklearn/datasets/data/digits.csv.gz"))
with open(out + ".part", "wb") as part:
    part.write(table)
os.replace(out + ".part", out)  # never leave half a table under the final name
