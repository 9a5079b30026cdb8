// The fonts of the handout, inside each page: it looks the same on every machine, whatever fonts that has.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const faces = [
  { family: 'Noto Sans', weight: 400, file: '@fontsource/noto-sans/files/noto-sans-latin-400-normal.woff2' },
  { family: 'Noto Sans', weight: 700, file: '@fontsource/noto-sans/files/noto-sans-latin-700-normal.woff2' },
  {
    family: 'Noto Sans Mono',
    weight: 400,
    file: '@fontsource/noto-sans-mono/files/noto-sans-mono-latin-400-normal.woff2',
  },
];

/** The rules of CSS that bring the fonts which `pages.css` names. */
export function fontFaces(): string {
  return faces
    .map(({ family, weight, file }) => {
      const bytes = readFileSync(fileURLToPath(import.meta.resolve(file))).toString('base64');
      return `@font-face {
  font-family: "${family}";
  font-weight: ${weight};
  src: url("data:font/woff2;base64,${bytes}") format("woff2");
}
`;
    })
    .join('');
}
