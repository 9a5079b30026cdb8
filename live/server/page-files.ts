// The files of the page: made of their sources when the page is served, and kept in memory.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { SavedRun } from '../contract.ts';

export interface PageFile {
  type: string;
  text: string;
}

const client = join(projectDir, 'live/client');

/** A padlock. */
const icon = [
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">',
  '<path d="M3 7h10v8H3zM5 7V5a3 3 0 0 1 6 0v2" fill="none" stroke="#0b5fa5" stroke-width="2"/></svg>',
].join('');

/** The texts that the sources name: those of another language take their place. */
const OWN_TEXTS = /\/texts\/en\.ts$/;

/** The page as it is served, and what one has that is saved with its run. */
export interface PageSources {
  /** The files by their paths. */
  files: Record<string, PageFile>;
  savedScript: string;
  savedStyle: string;
}

export interface PageOptions {
  /** The language of the page: its texts are in `live/texts/`. */
  language?: string;
  /** The file of the texts, where it is another one. */
  textsFile?: string;
}

/** Rejects when a source can't be read, or there are no texts in this language. */
export async function makePage({ language = 'en', textsFile }: PageOptions = {}): Promise<PageSources> {
  const texts = textsFile ?? join(projectDir, `live/texts/${language}.ts`);
  if (!existsSync(texts)) throw new Error(`live/texts/${language}.ts is missing: translate live/texts/en.ts to it.`);
  const [html, made] = await Promise.all([
    readFile(join(client, 'page.html'), 'utf8'),
    build({
      entryPoints: ['main.ts', 'saved.ts', 'page.css', 'saved.css'].map((file) => join(client, file)),
      outdir: client,
      write: false,
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      charset: 'utf8',
      plugins: [spokenIn(texts), markupInShort],
      logLevel: 'silent',
      tsconfigRaw: {},
    }),
  ]);
  const textOf = (end: string) => made.outputFiles.find(({ path }) => path.endsWith(`/${end}`))?.text ?? '';
  const [style = '', savedStyle = ''] = stylesInShort([textOf('page.css'), textOf('saved.css')]);
  const files = {
    '/': {
      type: 'text/html; charset=utf-8',
      text: html.replace(/\n\s+/g, '\n').replace('lang="en"', () => `lang="${language}"`),
    },
    '/icon.svg': { type: 'image/svg+xml', text: icon },
    '/page.js': { type: 'text/javascript; charset=utf-8', text: textOf('main.js') },
    '/page.css': { type: 'text/css; charset=utf-8', text: style },
  };
  return { files, savedScript: textOf('saved.js'), savedStyle };
}

/** Nothing but the styles knows the names of their colours and fonts: there they are short. */
function stylesInShort(styles: string[]): string[] {
  const names = [...new Set(styles.join().match(/--[a-z][\w-]*/g))];
  const shortOf = (name: string) => `--${names.indexOf(name).toString(36)}`;
  return styles.map((style) => style.replace(/--[a-z][\w-]*/g, shortOf).replace(/(--\w+): /g, '$1:'));
}

/** The page has the texts of this file. */
const spokenIn = (texts: string): Plugin => ({
  name: 'spoken-in',
  setup({ onResolve }) {
    onResolve({ filter: OWN_TEXTS }, ({ importer }) => (importer === texts ? undefined : { path: texts }));
  },
});

/**
 * Markup in a template needs no indents, and no quotes around what has no space: they are a twentieth of the page. What htm reads needs no names at
 * its ends either.
 */
const markupInShort: Plugin = {
  name: 'markup-in-short',
  setup({ onLoad }) {
    onLoad({ filter: /\/(live\/client|loadtest\/report)\/[^/]+\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const short = source
        .replace(/\s*\n\s*(?=<|\$\{|\/?>)/g, '')
        .replace(/\s*\n\s*/g, '\n')
        .replace(/(\s[\w-]+=)"([\w.()-]+)"(?=[\s>])/g, '$1$2');
      const contents = path.includes('/live/client/') ? short.replace(/<\/\w+>/g, '</>').replace(/ \/>/g, '/>') : short;
      return { contents, loader: 'ts' };
    });
  },
};

/** A name for the file of a run: what was played, and under which stages. */
export function savedName({ changes }: SavedRun): string {
  const views = changes.flatMap(({ message }) => message.views ?? []);
  const stages = views.flatMap((view) => view?.stage ?? []);
  const drill = views.findLast((view) => view?.drill !== undefined)?.drill ?? 'free-play';
  return `lockstep-${[...new Set(stages), drill].join('-')}.html`;
}

/** One file that shows a run without a server: nothing in it is asked from elsewhere. */
export function savedPage({ files, savedScript, savedStyle }: PageSources, run: SavedRun): string {
  const textOf = (path: string) => files[path]?.text ?? '';
  // No end of an element may stand in a script.
  const inScript = (text: string) => text.replaceAll('</', '<\\/');
  const json = JSON.stringify(run).replaceAll('<', '\\u003c');
  return textOf('/')
    .replace(/<link rel="icon"[^>]*>\s*/, '')
    .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${textOf('/page.css')}${savedStyle}</style>`)
    .replace(/<script[^>]*><\/script>/, '')
    .replace('</body>', () =>
      [
        `<script type="application/json" id="run">${json}</script>`,
        `<script type="module">${inScript(savedScript)}</script>`,
        '</body>',
      ].join('\n'),
    );
}
