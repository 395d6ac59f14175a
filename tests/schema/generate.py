"""Clients generated from the documents that a running exchange serves, into a folder.

`openapi-python-client` makes a package of each; with a folder of npm packages, `openapi-typescript` makes types, and
`tsc` a program of them and of generators/trade.ts. No surface serves the page's document: it is the committed one.

A generator warns of what it leaves out, which fails the run, as does an operation without a function or a
type, an example that its function does not read, and generated code that does not type-check.
"""

import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import requests

from examples import contents, examples_of
from exchange import SURFACES, URLS

HERE = Path(__file__).resolve().parent
GENERATORS = HERE / "generators"
PAGE = HERE.parents[1] / "docs" / "openapi" / "page.json"
TOOLS = Path(sys.executable).parent
PYTHON = [TOOLS / "openapi-python-client", "generate", "--meta", "none", "--fail-on-warning", "--config", GENERATORS / "python.yaml"]


def run(command, **more):
    """What a command printed; it must succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **more)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout


class Document:
    """The document of a surface, where generators read it, and what they make of it."""

    def __init__(self, name, folder):
        self.name = name
        self.source = PAGE if name == "page" else f"{URLS[name]}/openapi.json"
        self.file = folder / f"{name}.json"
        self.package = folder / "python" / f"{name}_client"
        self.types = folder / "typescript" / f"{name}.ts"
        content = PAGE.read_bytes() if name == "page" else requests.get(self.source, timeout=60).content
        self.file.write_bytes(content)
        self.content = json.loads(content)
        paths = self.content["paths"].values()
        self.operations = {operation["operationId"] for methods in paths for operation in methods.values()}

    def validate(self):
        run([TOOLS / "openapi-spec-validator", self.file])

    def generate_python(self):
        run([*PYTHON, "--path" if self.name == "page" else "--url", self.source, "--output-path", self.package])
        functions = {file.stem for file in self.package.glob("api/*/*.py")} - {"__init__"}
        assert functions == self.operations, f"{self.name}: {functions ^ self.operations}"

    def generate_types(self, packages):
        run([packages / "node_modules/.bin/openapi-typescript", self.source, "--output", self.types])
        _, _, operations = self.types.read_text().partition("\nexport interface operations {\n")
        types = set(re.findall(r"^    (\w+): \{$", operations, re.MULTILINE))
        assert types == self.operations, f"{self.name}: {types ^ self.operations}"


def read_examples(documents):
    """Imports every module of the packages of documents, which read the examples of their answers."""
    modules, count = {}, 0
    for document in documents:
        package = importlib.import_module(document.package.name)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            modules[module.name] = importlib.import_module(module.name)
        functions = {name.rpartition(".")[2]: module for name, module in modules.items() if f"{package.__name__}.api." in name}
        client = package.Client(base_url="http://127.0.0.1", raise_on_unexpected_status=True)
        for (_, *place), content in contents(document.content):
            match place:
                case path, method, "responses", status, _, "application/json":
                    function = functions[document.content["paths"][path][method]["operationId"]]
                    for example in examples_of(content):
                        function._parse_response(client=client, response=httpx.Response(int(status), json=example))
                        count += 1
    print(f"{count} examples of answers are read by {len(modules)} modules of Python")


def build(folder, packages):
    """Type-checks the types and the program that trades, which becomes JavaScript."""
    for file in ("package.json", "tsconfig.json", "trade.ts"):
        shutil.copy(GENERATORS / file, folder)
    (folder / "node_modules").symlink_to(packages / "node_modules")
    run([packages / "node_modules/.bin/tsc", "--project", folder])


def main(folder, packages=None):
    for part in ("python", "typescript"):
        (folder / part).mkdir(parents=True)
    documents = [Document(name, folder) for name in SURFACES]
    steps = [step for document in documents for step in (document.validate, document.generate_python)]
    steps += [lambda document=document: document.generate_types(packages) for document in documents if packages]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda step: step(), steps))
        built = pool.submit(build, folder / "typescript", packages) if packages else None
        sys.path.insert(0, str(folder / "python"))
        read_examples(documents)
        if built:
            built.result()
    operations = sum(len(document.operations) for document in documents)
    print(f"{operations} operations have a function in Python{', and a type in TypeScript' if packages else ''}")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
