import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { browserPath } from '../../stack/path.ts';

/** Chromium asks nobody on the network. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Whether this machine has a Chromium: at /usr/bin/chromium, or where CHROMIUM says. */
export const hasBrowser = existsSync(browserPath());

/** With the fonts of this machine, or with those alone that a file of fontconfig names. */
export function launchBrowser(fontsFile?: string): Promise<Browser> {
  const env = { ...process.env, ...(fontsFile !== undefined && { FONTCONFIG_FILE: fontsFile }) };
  return chromium.launch({ executablePath: browserPath(), args: flags, env });
}
