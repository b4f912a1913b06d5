"""The modules of this project, and what they import."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent


@cache
def modules() -> dict[str, Path]:
    """Return the file of every module of `candor_client` and `survey_app`, by its dotted name."""
    trees = {ROOT / "client": "candor_client", ROOT: "survey_app"}
    files = {file: top for top, package in trees.items() for file in top.glob(f"{package}/**/*.py")}
    return {
        ".".join(file.relative_to(top).with_suffix("").parts).removesuffix(".__init__"): file
        for file, top in files.items()
    }


@cache
def imports(file: Path) -> set[str]:
    """Return every module that a file imports, also inside functions, but not for type checkers only."""
    found: set[str] = set()
    tree = ast.parse(file.read_text())
    typed = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    skipped = {inner for node in typed for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{file}: imports are absolute"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules() else node.module for name in names}
    return found
