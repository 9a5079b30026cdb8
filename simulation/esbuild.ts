// Calls esbuild for all bundles: for the processes of the stack, for the simulation and for the page.

import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin, stop } from 'esbuild';

/** Smaller bundles load faster; names are kept. */
export const short = { minifyWhitespace: true, minifySyntax: true, charset: 'utf8' } satisfies BuildOptions;
/** With a source map; the sources are at hand. */
export const mapped = { sourcemap: 'external', sourcesContent: false } satisfies BuildOptions;

/** How many builds are in progress. */
let building = 0;

/** Makes one text of what the options name and all that it imports, with its source map if that is asked for. `isLast`: esbuild is not needed again for long, and may end. */
export async function bundleText(options: BuildOptions, isLast = false) {
  building += 1;
  try {
    const made = await build({ bundle: true, target: 'node20', metafile: true, ...options, write: false });
    const [map, text] = [true, false].map((isMap) =>
      made.outputFiles.find(({ path }) => path.endsWith('.map') === isMap),
    );
    return { text: text?.text ?? '', map: map?.text ?? '', inputs: Object.keys(made.metafile?.inputs ?? {}) };
  } finally {
    building -= 1;
    // It ends the process that all builds share.
    if (isLast && building === 0) await stop();
  }
}

const ownPlace = (path: string) => pathToFileURL(path).href;

/** A plugin that gives modules the place of their source when they ask where they are, or another given place. */
export const placed = (filter: RegExp, asks = /import\.meta\.url/g, placeOf = ownPlace): Plugin => ({
  name: 'placed',
  setup({ onLoad }) {
    // What another plugin has put in the place of a file is its own.
    onLoad({ filter, namespace: 'file' }, ({ path }) => {
      const source = readFileSync(path, 'utf8').replace(asks, JSON.stringify(placeOf(path)));
      const place = /\b__(dir|file)name\b/.test(source)
        ? `const __filename = ${JSON.stringify(path)}, __dirname = ${JSON.stringify(dirname(path))};`
        : '';
      return { contents: place + source, loader: path.endsWith('ts') ? 'ts' : 'js', resolveDir: dirname(path) };
    });
  },
});
