#!/usr/bin/env bash
# Validates JUnit, SARIF and mutation reports against the schemas that are published for them.
#
#   tools/validate_reports.sh FOLDER...   folders that hold junit.xml, report.sarif or mutants.json
#
# JUnit: `junit-10.xsd` (of Jenkins' xUnit plugin) from the source distribution of pytest on PyPI. It knows no `properties`
# in a `testcase`, which its readers do; that one reference is added before anything is validated. SARIF: the schema of
# 2.1.0 in the npm package @microsoft/jest-sarif, formats included. Mutants: the schema in the npm package
# mutation-testing-report-schema, version 3.
# Needs the network, python3 with venv, and npm. Exit 1 where a report is not valid.
set -euo pipefail

[ $# -gt 0 ] || { echo "validate_reports: name folders that hold reports" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet xmlschema jsonschema rfc3987-syntax
(
    cd "$work"
    python/bin/pip download --quiet --no-deps --no-binary :all: pytest
    tar xzf pytest-*.tar.gz --wildcards --strip-components=3 '*/testing/example_scripts/junit-10.xsd'
    npm pack --silent @microsoft/jest-sarif >/dev/null
    tar xzf microsoft-jest-sarif-*.tgz package/lib/schemas/sarif-2.1.0-rtm.5.json
    npm pack --silent mutation-testing-report-schema@3 >/dev/null
    tar xzf mutation-testing-report-schema-*.tgz package/dist/src/mutation-testing-report-schema.json
)

"$work/python/bin/python" - "$work" "$@" <<'PYTHON'
import json, pathlib, sys
import jsonschema, xmlschema

work, folders = pathlib.Path(sys.argv[1]), sys.argv[2:]
known = '<xs:element ref="skipped"/>'
xsd = (work / "junit-10.xsd").read_text()
case = xsd.index('<xs:element name="testcase">')
assert known in xsd[case:], "the schema of JUnit is another"
xsd = xsd[:case] + xsd[case:].replace(known, '<xs:element ref="properties"/>' + known, 1)
junit = xmlschema.XMLSchema10(xsd)
sarif_schema = json.loads((work / "package/lib/schemas/sarif-2.1.0-rtm.5.json").read_text())
kind = jsonschema.validators.validator_for(sarif_schema)
sarif = kind(sarif_schema, format_checker=kind.FORMAT_CHECKER)
mutant_schema = json.loads((work / "package/dist/src/mutation-testing-report-schema.json").read_text())
mutants = jsonschema.validators.validator_for(mutant_schema)(mutant_schema)

faults, seen = 0, 0
def tell(path, place, message):
    global faults
    faults += 1
    print(f"{path}: {place}: {message}")

for folder in map(pathlib.Path, folders):
    path = folder / "junit.xml"
    if path.exists():
        seen += 1
        for error in junit.iter_errors(str(path)):
            tell(path, error.path, error.reason)
    path = folder / "report.sarif"
    if path.exists():
        seen += 1
        for error in sarif.iter_errors(json.loads(path.read_text())):
            tell(path, error.json_path, error.message)
    path = folder / "mutants.json"
    if path.exists():
        seen += 1
        for error in mutants.iter_errors(json.loads(path.read_text())):
            tell(path, error.json_path, error.message)
print(f"{seen} reports, {faults} faults")
sys.exit(1 if faults or not seen else 0)
PYTHON
