// The lesson as a site for a web server: the page, its link preview, and the page for unknown addresses.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../stack/parts.ts';

/** The size of a link preview, in pixels. */
export const SHARE = { w: 1_200, h: 630 };

export const siteFiles = ['index.html', 'report.html', '404.html', 'icon.svg', 'share.png'] as const;

const read = (file: string) => readFileSync(join(projectDir, file));

/** The files of the site, from a page with its head. `address`: the site's address, ending with a slash; without it, links are relative. */
export function siteOf(
  page: string,
  report: string,
  address: string | undefined,
): Record<(typeof siteFiles)[number], string | Buffer> {
  return {
    'index.html': page,
    'report.html': report,
    '404.html': notFoundPage(address),
    'icon.svg': read('workshop/page/view/icon.svg'),
    'share.png': read('docs/images/share.png'),
  };
}

/** The additional tags in the page's head: its report and its picture. */
export function headOf(address = ''): string {
  const alt = 'Two buyers read a stock of 100. Both write 99, and both pay for unit 100.';
  return [
    '<link rel="alternate" href="report.html">',
    ...(address === ''
      ? []
      : [`<link rel="canonical" href="${address}">`, `<meta property="og:url" content="${address}">`]),
    `<meta property="og:image" content="${address}share.png">`,
    `<meta property="og:image:width" content="${SHARE.w}">`,
    `<meta property="og:image:height" content="${SHARE.h}">`,
    `<meta property="og:image:alt" content="${alt}">`,
    '<meta name="twitter:card" content="summary_large_image">',
  ].join('\n');
}

/** Shown at any depth of the site, so its links must not be relative. */
const notFoundPage = (address = './') => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lockstep: page not found</title>
<link rel="icon" href="${address}icon.svg">
<style>
:root { color-scheme: light dark; font: 18px/1.5 system-ui, sans-serif }
body { margin: 15vh auto; max-width: 32rem; padding: 0 1rem }
</style>
</head>
<body>
<h1>Page not found</h1>
<p><a href="${address}">Go to the lesson: why a shop sells a unit twice</a></p>
<p lang="zh-CN">页面不存在。<a href="${address}#/0?lang=zh">去看课程：商店为什么把一件货卖了两次</a></p>
</body>
</html>
`;
