// The files of the page: made of their sources when the page is served, and kept in memory.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { SavedRun } from '../contract.ts';

export interface PageFile {
  type: string;
  text: string;
}

const client = join(projectDir, 'live/client');

/** The files by their paths. Rejects when a source can't be read. */
export async function makePageFiles(): Promise<Record<string, PageFile>> {
  const [html, made] = await Promise.all([
    readFile(join(client, 'page.html'), 'utf8'),
    build({
      entryPoints: [join(client, 'main.ts'), join(client, 'page.css')],
      outdir: client,
      write: false,
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      logLevel: 'silent',
      tsconfigRaw: {},
    }),
  ]);
  const textOf = (end: string) => made.outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  return {
    '/': { type: 'text/html; charset=utf-8', text: html },
    '/page.js': { type: 'text/javascript; charset=utf-8', text: textOf('main.js') },
    '/page.css': { type: 'text/css; charset=utf-8', text: textOf('page.css') },
  };
}

/** One file that shows a run without a server: nothing in it is asked from elsewhere. */
export function savedPage(files: Record<string, PageFile>, run: SavedRun): string {
  const textOf = (path: string) => files[path]?.text ?? '';
  // No end of an element may stand in a script.
  const inScript = (text: string) => text.replaceAll('</', '<\\/');
  const json = JSON.stringify(run).replaceAll('<', '\\u003c');
  return textOf('/')
    .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${textOf('/page.css')}</style>`)
    .replace(/<script[^>]*><\/script>/, '')
    .replace('</body>', () =>
      [
        `<script type="application/json" id="run">${json}</script>`,
        `<script type="module">${inScript(textOf('/page.js'))}</script>`,
        '</body>',
      ].join('\n'),
    );
}
