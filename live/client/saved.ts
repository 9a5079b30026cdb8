// Starts the page that a run was saved as: it brings the run with it, and asks nobody for anything.

import type { SavedRun } from '../contract.ts';
import { drawPage } from './draw.ts';
import { heading, openSavedRun, turnPlaying } from './saved-run.ts';
import { ScrubBar } from './scrub-bar.ts';

openSavedRun(JSON.parse(document.getElementById('run')?.textContent ?? '') as SavedRun);
// Before the keys of the page: here the space bar plays. A button that has the focus takes it for itself.
document.addEventListener('keydown', (event) => {
  const isTaken = event.target instanceof Element && event.target.closest('button:not([role=tab])') !== null;
  if (event.key !== ' ' || event.repeat || isTaken) return;
  event.preventDefault();
  turnPlaying();
});
drawPage(ScrubBar);
document.title = `${heading()} · ${document.title}`;
document.querySelector<HTMLElement>('.saved button')?.focus();
