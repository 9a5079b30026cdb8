// The files of the page: made of their sources when the page is served, and kept in memory.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { projectDir } from '../../scripts/stack/parts.ts';

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
