#!/bin/sh
# Builds the JavaScript listener of the folder beside this one with another engine, StarlingMonkey, into the folder that is
# given, by default target/guests/js-starlingmonkey. What it installs goes to target/peers, so that the tree stays clean.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=${1:-$root/target/guests/js-starlingmonkey}
tools=$root/target/peers/toolchain-js-starlingmonkey
mkdir -p "$tools" "$out"

if ! cmp -s "$here/package-lock.json" "$tools/installed-lock.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$tools/"
  npm ci --prefix "$tools" --no-audit --no-fund --loglevel=error
  cp "$here/package-lock.json" "$tools/installed-lock.json"
fi

# A script looks for packages from where it stands. `jco componentize` would do the same as this one, but fails with this
# engine on a path of its own.
cp "$here/build.mjs" "$tools/build.mjs"
node "$tools/build.mjs" "$here/../js/listener.js" "$root/wit/v0.1" prepared-listener "$out/listener.wasm"
