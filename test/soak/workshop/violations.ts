import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { projectDir } from '../../../stack/parts.ts';

const axe = join(projectDir, 'node_modules/axe-core/axe.min.js');

/** What axe finds on a page that was opened with `bypassCSP`, a sentence each. */
export async function violations(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: axe });
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
}
