// The pages of the orders as drills: each is played on real servers, since no virtual world has a MySQL.

import { readdirSync, readFileSync } from 'node:fs';
import type { Drill } from '../harness/drill.ts';
import { readPageOf } from '../scenarios/page.ts';
import { playPage } from '../scenarios/play-page.ts';
import { cleanUpDemands, cleanUpSteps } from './clean-up.ts';
import { commonSteps } from './course.ts';
import { asDrillOn, openShop } from './shop.ts';

const folder = new URL('.', import.meta.url);
const known = { steps: [...commonSteps, ...cleanUpSteps], demands: cleanUpDemands };
const pages = readdirSync(folder)
  .filter((file) => file.endsWith('.txt'))
  .map((file) => readPageOf(known, readFileSync(new URL(file, folder), 'utf8')));
const drills = pages.map((page) =>
  asDrillOn(openShop)({
    name: page.name,
    needs: page.needs,
    leaseMs: page.timing.leaseMs,
    run: (testBed) => playPage(page, { testBed, due: [], ticks: new Map(), evidence: [] }),
  }),
);

/** The drill of this name. Throws when there is none. */
export function orderDrill(name: string): Drill {
  const found = drills.find((drill) => drill.name === name);
  if (found === undefined)
    throw new Error(`There is no page ${name}: there are ${pages.map(({ name }) => name).join(', ')}.`);
  return found;
}
