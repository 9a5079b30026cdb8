# npm run check: checks types, style, spelling and the docs.
set -e
tsc --noEmit
tsc --noEmit -p loadtest/peers
biome ci .
cspell lint --no-progress
exec vitest run --project lesson "$@"
