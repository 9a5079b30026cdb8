// What a web server needs beside the page: what others show of its address, and what it says of an address that is none.

/** The page with what is said of its address: the report beside it, and its picture. `address`: where it will be found, when that is known. */
export function hostedPage(page: string, address: string | undefined): string {
  const alt = 'Two buyers read a stock of 100. Both write 99, and each pays for unit 100.';
  const tags = [
    '<link rel="alternate" href="report.html">',
    ...(address === undefined
      ? []
      : [`<link rel="canonical" href="${address}">`, `<meta property="og:url" content="${address}">`]),
    `<meta property="og:image" content="${address ?? ''}share.png">`,
    '<meta property="og:image:width" content="1200">',
    '<meta property="og:image:height" content="630">',
    `<meta property="og:image:alt" content="${alt}">`,
    '<meta name="twitter:card" content="summary_large_image">',
  ];
  return page.replace('<link rel="icon"', () => `${tags.join('\n')}\n<link rel="icon"`);
}

/** Shown for an address of the site that leads nowhere. It may be asked for at any depth: what it leads to has its whole address, if that is known. */
export const notFoundPage = (address = './') => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lockstep: nothing here</title>
<link rel="icon" href="${address}icon.svg">
<style>
:root { color-scheme: light dark; font: 18px/1.5 system-ui, sans-serif }
body { margin: 15vh auto; max-width: 32rem; padding: 0 1rem }
</style>
</head>
<body>
<h1>404</h1>
<p>Nothing is at this address. <a href="${address}">To the lesson: why a shop sells a unit twice</a></p>
<p lang="zh-CN">这个地址没有内容。<a href="${address}#/0?lang=zh">去看课程：商店为什么把一件货卖两次</a></p>
</body>
</html>
`;
