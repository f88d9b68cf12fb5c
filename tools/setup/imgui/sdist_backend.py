"""A build backend that builds nothing.

pip asks a source distribution for its metadata before it hands the file over, and for that it
loads the distribution's own build backend, with a compiler's worth of requirements. imgui.sh
only wants the file, so it puts this module in that backend's place: nothing of the
distribution is run.
"""

import pathlib
import re


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    about = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    name = re.search(r"^Name: (.+)$", about, re.M)[1]
    version = re.search(r"^Version: (.+)$", about, re.M)[1]
    info = pathlib.Path(metadata_directory, f"{name.replace('-', '_')}-{version}.dist-info")
    info.mkdir()
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(text, encoding="utf-8")
    return info.name
