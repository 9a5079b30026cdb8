# npm run prepack, called by `npm pack`: builds the files that only the package has: its API as JavaScript, and its types.
set -e
rm -rf dist
tsc --project scripts/package
exec esbuild scripts/package/index.ts --bundle --packages=external --format=esm --target=node20 --log-level=warning \
  --outfile=dist/index.js --platform=node
