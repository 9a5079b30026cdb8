# npm run check: types, style, spelling, and what the pages say.
set -e
tsc --noEmit
tsc --noEmit -p loadtest/peers
biome ci .
cspell lint --no-progress
exec vitest run --project lesson "$@"
