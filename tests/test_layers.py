"""The directories are layers: an include points downward or stays in its own directory, and files stay readable."""

import ast
import functools
import re
import warnings
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from conftest import ROOT

# From the bottom to the top.
LAYERS = [
    "ecosort",  # the public interface
    "base",
    "io",
    "codec",
    "hash",
    "sortbenchmark",
    "sorting",
    "formats/records",
    "formats",  # what they have in common
    "formats/lines",
    "formats/keys",
    "formats/csv",
    "formats/jsonl",
    "formats/shuffle",
    "formats/all",
    "planner",
    "run",
    "engine",
    "engine/fixed",
    "engine/rows",
    "engine/partition",
    "demsort_inplace",
    "job",
    "demsort_inplace/prepare",
    "library",  # the public interface, done
    "cli",
    "cli/tables",
]
# The command line may include these besides the API, job/ and what these offer; of some directories all.
CLI_ALSO_USES = {
    "demsort_inplace/prepare/*",  # what job/ is for jobs that outlive a crash, which it does not know
    "formats/lines/debug_marks",  # the words of GNU sort
    "formats/lines/key_warnings",
    "formats/lines/key_words",
    "formats/lines/line_order",
    "formats/lines/option_words",
    "formats/lines/posix_rules",
    "formats/lines/quoted",
    "formats/lines/text",
    "library/jobs",  # of `ecosort run`
    "sortbenchmark/*",  # gen and check are these
}
# The Python packages, and which others each one may import.
PACKAGES = {
    "python/ecosort": set[str](),
    "power/ecosort_power": {"ecosort"},
    "appliance/ecosort_appliance": {"ecosort", "ecosort_power"},
    "tuning/ecosort_measure": {"ecosort", "ecosort_power"},
    "tuning/ecosort_tuning": {"ecosort", "ecosort_power", "ecosort_measure"},
    "tuning/bench/ecosort_bench": {"ecosort", "ecosort_power", "ecosort_measure"},
}
IMPORT = re.compile(r"^\s*(?:from|import) (ecosort\w*)", re.MULTILINE)
# The aims are 150 and 400 lines; what is twice as long is refused. (.clang-tidy refuses functions over 50 lines.)
AIM_LINES = {".h": 150, ".cpp": 400}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def sources() -> list[Path]:
    trees = (ROOT / "ecosort", ROOT / "demsort_inplace", ROOT / "library", ROOT / "cli")
    return sorted(path for tree in trees for path in tree.rglob("*") if path.suffix in AIM_LINES)


def includes_of(text: str) -> list[str]:
    """Without what the build makes."""
    return [name for name in INCLUDE.findall(text) if name != "build_info.h"]


def layer_of(path: str) -> int | None:
    directory = str(Path(path).parent)
    return LAYERS.index(directory) if directory in LAYERS else None


def upward_includes(path: str, text: str) -> list[str]:
    """The includes of a file (its path begins with its layer) that do not point downward."""
    own = layer_of(path)
    wrong = []
    for included in includes_of(text):
        target = layer_of(included)
        if own is not None and (target is None or target > own):
            wrong.append(included)
    return wrong


def test_an_upward_include_is_noticed() -> None:
    assert upward_includes("io/file.cpp", '#include "io/file.h"\n#include "base/errors.h"\n#include <vector>\n') == []
    assert upward_includes("io/file.cpp", '#include "planner/plan.h"\n') == ["planner/plan.h"]
    assert upward_includes("demsort_inplace/a.cpp", '#include "cli/say.h"\n') == ["cli/say.h"]
    assert upward_includes("base/a.cpp", '  # include "../io/file.h"\n') == ["../io/file.h"]


def test_includes_point_downward() -> None:
    library = ROOT / "ecosort"
    files = sources()
    assert any(not path.is_relative_to(library) for path in files)
    wrong = {}
    for path in files:
        name = path.relative_to(library if path.is_relative_to(library) else ROOT).as_posix()
        if found := upward_includes(name, path.read_text()):
            wrong[name] = found
    assert not wrong


def test_the_command_line_uses_what_job_offers() -> None:
    allowed = {f"{directory}/*" for directory in ("base", "cli", "ecosort", "job")} | CLI_ALSO_USES
    wrong, used = [], set[str]()
    for path in sources():
        if not path.is_relative_to(ROOT / "cli"):
            continue
        for included in includes_of(path.read_text()):
            by = allowed & {included.removesuffix(".h"), f"{Path(included).parts[0]}/*", f"{Path(included).parent}/*"}
            used |= by
            if not by:
                wrong.append(f"{path.name}: {included}")
    assert not wrong
    assert used >= CLI_ALSO_USES, "what is allowed is needed"


def test_python_packages_import_downward() -> None:
    """Benchmark and tuning are beside each other: what both need is below them."""
    for directory, allowed in PACKAGES.items():
        files = list((ROOT / directory).rglob("*.py"))
        assert files, directory
        imported = {(name, path.name) for path in files for name in IMPORT.findall(path.read_text())}
        assert {(n, f) for n, f in imported if n not in allowed | {Path(directory).name}} == set(), directory
        assert allowed <= {name for name, _ in imported}, "what is allowed is needed"


def imports_of(text: str, modules: set[str]) -> set[str]:
    """The modules that a source imports anywhere, also within functions and for its types alone."""
    found = set[str]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{name.name}" for name in node.names}
            found |= names & modules or {node.module}
    return found & modules


def circle_in(sources: dict[str, str]) -> list[str]:
    """The modules of a circle of imports; empty where there is none."""
    graph = {name: imports_of(text, {*sources}) - {name} for name, text in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_a_circle_of_imports_is_noticed() -> None:
    below = {"p.a": "from p import b\n", "p.b": "import json\nfrom p.c import name\n", "p.c": "", "p": "from p.a import it\n"}
    assert circle_in(below) == []
    assert {*circle_in(below | {"p.c": "def f():\n    from p import a\n"})} == {"p.a", "p.b", "p.c"}


def test_python_modules_import_in_no_circle() -> None:
    """A module can be understood, tested and loaded without those that use it."""
    for directory in PACKAGES:
        root = ROOT / directory
        files = {".".join(path.relative_to(root.parent).with_suffix("").parts): path for path in root.rglob("*.py")}
        sources = {name.removesuffix(".__init__"): path.read_text() for name, path in files.items()}
        assert circle_in(sources) == [], directory


# The words of GNU sort are a language of their own, whose errors name them.
GNU_WORDS = {f"ecosort/formats/lines/{name}.cpp" for name in ("option_words", "key_words", "key_warnings")}
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# A whole command to type, and what other programs are called with.
WHOLE_COMMAND = re.compile(r"(ecosort(-tune)? [a-z]+|xz|cp|fallocate|rsync|tar)( -?[\w={}-]+)* --[a-z]")
OPTION = re.compile(r"(?<![\w-])--[a-z]")


def options_named(text: str) -> list[str]:
    """The literals, joined where they follow each other, that name an option outside of a command that can be typed as it is."""
    joined = re.sub(r'"\s*\n\s*"', "", re.sub(r"//.*", "", text))
    return [word for word in LITERAL.findall(joined) if OPTION.search(WHOLE_COMMAND.sub("", word))]


def test_an_option_in_an_error_is_noticed() -> None:
    assert options_named('throw E(f("--memory {} is too little", m));') != []
    assert options_named('f("give more "\n   "with --memory")') != []
    assert options_named('f("continue with: ecosort resume "\n  "--abandon {}", p);  // see --help') == []


def test_errors_below_the_command_line_name_no_option() -> None:
    """The library's users have none. What to type is said in cli/advice.cpp, by the type of the error."""
    wrong = {}
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("cli/") or name in GNU_WORDS:
            continue
        if found := options_named(path.read_text()):
            wrong[name] = found
    assert wrong == {}


def test_the_library_knows_neither_the_in_place_mode_nor_the_command_line() -> None:
    library = [path for path in sources() if path.is_relative_to(ROOT / "ecosort")]
    above = ("demsort_inplace/", "library/", "cli/")
    assert [p.name for p in library if any(name.startswith(above) for name in INCLUDE.findall(p.read_text()))] == []


def test_json_becomes_text_in_one_place() -> None:
    """Another one would fail for a name that is not UTF-8."""
    programs = [*sources(), *(ROOT / "tuning").rglob("*.cpp")]
    assert [p.name for p in programs if p.suffix == ".cpp" and ".dump(" in p.read_text()] == ["json.cpp"]


def test_every_header_is_guarded_and_opens_with_what_it_is_for() -> None:
    headers = [path for path in sources() if path.suffix == ".h"]
    assert [path for path in headers if "#pragma once" not in path.read_text()] == []
    assert [path for path in headers if not path.read_text().startswith("//")] == []


def test_files_stay_short_enough_to_read() -> None:
    lines = {path: path.read_text().count("\n") for path in sources()}
    over_aim = {path.relative_to(ROOT).as_posix(): n for path, n in lines.items() if n > AIM_LINES[path.suffix]}
    for name, count in over_aim.items():
        warnings.warn(f"longer than the aim: {name}: {count} lines", stacklevel=1)
    too_long = [name for name, count in over_aim.items() if count > 2 * AIM_LINES[Path(name).suffix]]
    assert not too_long


# Folders that add no name of their own to the path; a format lies beside the rooms: formats/csv is ecosort::csv.
NAMESPACES = {"base": "ecosort", "cli/tables": "ecosort::cli", "formats/all": "ecosort::formats"}
INNER_NAMESPACES = ("", "::detail", "::crc")
BLOCK = re.compile(r"^namespace (ecosort[\w:]*) \{\n(.*?)^\}  // namespace \1$", re.MULTILINE | re.DOTALL)
FORWARD = re.compile(r"(\s*(//.*|(struct|class|enum class) \w+( : [\w:]+)?;.*)?\n)*")
TYPE = re.compile(r"^(?:struct|class|enum class) (?:alignas\(\w+\) )?(\w+)(?: final)?(?: : [^;{]*)? \{", re.MULTILINE)


def namespace_of(folder: str) -> str:
    path = folder.removeprefix("formats/").replace("/", "::")
    return NAMESPACES.get(folder, f"ecosort::{path}")


@functools.cache
def interface() -> list[str]:
    """The functions and classes of the public interface that a source defines."""
    headers = [(ROOT / "include/ecosort" / name).read_text() for name in ("ecosort.hpp", "request.hpp")]
    return sorted({name for text in headers for name in re.findall(r"ECOSORT_API (?:[\w:]+ )?(\w+)(?: [{:]|\()", text)})


def strange_namespaces(folder: str, text: str) -> list[str]:
    """The namespaces that a file of the folder opens for more than forward declarations, and that have another name."""
    own = {namespace_of(folder) + inner for inner in INNER_NAMESPACES}
    if re.search(rf"^[^\s/#].*\b({'|'.join(interface())})(\(|::)", text, re.MULTILINE):
        own.add("ecosort")  # defines what the interface declares
    return [name for name, body in BLOCK.findall(text) if name not in own and not FORWARD.fullmatch(body)]


def test_a_namespace_with_another_name_is_noticed() -> None:
    def block(name: str, body: str = "int f();\n") -> str:
        return f"namespace {name} {{\n{body}}}  // namespace {name}\n"

    assert strange_namespaces("engine/rows", block("ecosort::engine::rows") + block("ecosort::io", "struct File;\n")) == []
    assert strange_namespaces("formats/csv", block("ecosort::csv")) == strange_namespaces("base", block("ecosort")) == []
    assert strange_namespaces("engine/rows", block("ecosort::rows")) == ["ecosort::rows"]
    assert strange_namespaces("io", block("ecosort")) == ["ecosort"]


def test_a_namespace_is_the_path_of_its_folder() -> None:
    tests = ROOT / "tests" / "cpp"
    wrong = {}
    for path in [*sources(), *tests.rglob("*.h"), *tests.rglob("*.cpp")]:
        top = next(top for top in (ROOT / "ecosort", tests, ROOT) if path.is_relative_to(top))
        folder = path.relative_to(top).parent.as_posix()
        if folder in LAYERS and (found := strange_namespaces(folder, path.read_text())):
            wrong[path.relative_to(ROOT).as_posix()] = found
    assert wrong == {}


def test_a_type_has_one_name_in_the_whole_tree() -> None:
    places: dict[str, set[str]] = {}
    for path in [*sources(), *(ROOT / "include").rglob("*.hpp")]:
        for name in TYPE.findall(path.read_text()) if path.suffix != ".cpp" else []:
            places.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
