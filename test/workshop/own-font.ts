// A font that the tests bring, so that a page is as large on every machine: DejaVu, the widest of those that are usual.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectDir } from '../../stack/parts.ts';

const fonts = join(projectDir, 'node_modules/dejavu-fonts-ttf/ttf');
const files = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf', 'DejaVuSansMono.ttf', 'DejaVuSansMono-Bold.ttf'];
/** What a page asks for, and what it gets. */
const families = {
  'system-ui': 'DejaVu Sans',
  'sans-serif': 'DejaVu Sans',
  'ui-monospace': 'DejaVu Sans Mono',
  monospace: 'DejaVu Sans Mono',
};

/** A file for fontconfig (FONTCONFIG_FILE) that names this font and no other one. */
export function makeOwnFont(): { file: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'own-font-'));
  const file = join(dir, 'fonts.conf');
  mkdirSync(join(dir, 'fonts'));
  for (const name of files) symlinkSync(join(fonts, name), join(dir, 'fonts', name));
  const aliases = Object.entries(families).map(
    ([asked, given]) =>
      `<alias binding="same"><family>${asked}</family><prefer><family>${given}</family></prefer></alias>`,
  );
  writeFileSync(
    file,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>${join(dir, 'fonts')}</dir>
<cachedir>${join(dir, 'cache')}</cachedir>
${aliases.join('\n')}
</fontconfig>
`,
  );
  return { file, remove: () => rmSync(dir, { recursive: true }) };
}
