#!/bin/sh
# Builds the Python listener into the folder that is given, by default target/guests/py. What it installs goes to
# target/peers, so that the tree stays clean.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=${1:-$root/target/guests/py}
tools=$root/target/peers/toolchain-py
mkdir -p "$tools/source" "$out"

if ! cmp -s "$here/requirements.txt" "$tools/installed.txt"; then
  python3 -m venv "$tools/venv"
  "$tools/venv/bin/pip" install --require-hashes --quiet --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$tools/installed.txt"
fi

# From a copy: the generator runs the module once and leaves its byte code beside it.
cp "$here/app.py" "$tools/source/app.py"
"$tools/venv/bin/componentize-py" --quiet -d "$root/wit/v0.1" -w prepared-listener \
  componentize -p "$tools/source" app -o "$out/listener.wasm"
