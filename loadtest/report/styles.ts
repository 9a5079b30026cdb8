// The styles of the reports, of which the timelines are drawn alike on the live page.

import { readFileSync } from 'node:fs';

/** The text of the style sheet that every report has. */
export function readStyles(): string {
  return ['report.css', 'timeline.css'].map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\n');
}
