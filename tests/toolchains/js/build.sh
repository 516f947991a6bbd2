#!/bin/sh
# Builds the JavaScript listener into the folder that is given, by default target/guests/js. What it installs goes to
# target/peers, so that the tree stays clean.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=${1:-$root/target/guests/js}
tools=$root/target/peers/toolchain-js
mkdir -p "$tools" "$out"

if ! cmp -s "$here/package-lock.json" "$tools/installed-lock.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$tools/"
  npm ci --prefix "$tools" --no-audit --no-fund --loglevel=error
  cp "$here/package-lock.json" "$tools/installed-lock.json"
fi

# Without --backend-qjs-disable-async the component wants the component model's async feature, which no listener needs.
"$tools/node_modules/.bin/jco" componentize "$here/listener.js" \
  --wit "$root/wit/v0.1" --world-name prepared-listener --backend qjs --backend-qjs-disable-async \
  --out "$out/listener.wasm"
