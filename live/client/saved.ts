// Starts the page that a run was saved as: it brings the run with it, and asks nobody for anything.

import type { SavedRun } from '../contract.ts';
import { drawPage } from './draw.ts';
import { openSavedRun } from './saved-run.ts';
import { ScrubBar } from './scrub-bar.ts';

openSavedRun(JSON.parse(document.getElementById('run')?.textContent ?? '') as SavedRun);
drawPage(ScrubBar);
