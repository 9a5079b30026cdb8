#!/bin/sh
# npm run NAME: installs what is missing, then runs scripts/NAME.sh, or scripts/NAME.ts like `lockstep NAME`, with the arguments after --.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
name=$1
shift

sh stack/packages.sh
case $name in check | mutations | soak | test) sh stack/packages.sh loadtest/peers ;; esac
case $name in soak | test) sh scripts/setup.sh ;; esac

if [ -f "scripts/$name.sh" ]; then exec sh "scripts/$name.sh" "$@"; fi
exec node --disable-warning=ExperimentalWarning --enable-source-maps scripts/lockstep.mjs "$name" "$@"
