// The code beside the picture: the racing lines of sale.ts, the lock's file, and the script that Redis runs. Each sale is marked at its line.

import { diffLines } from 'diff';
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Both, inLanguage } from '../../../loadtest/narration/language.ts';
import type { Beat, SaleScene, Scene } from '../../picture/beats.ts';
import { Chip } from './chip.ts';
import { say } from './texts.ts';

export const SALE_FILE = 'services/inventory/sale/sale.ts';
/** The lines that are steps, in order, each identified by its call. */
const steps: { step: SaleScene['step']; calls: string; is?: Both }[] = [
  { step: 'acquire', calls: 'await lock.acquire(signal)' },
  { step: 'read', calls: 'const stockBefore = await stock.read(', is: ['reads', '读'] },
  { step: 'gap', calls: 'await business()', is: ['the gap', '空隙'] },
  { step: 'write', calls: 'const left = await stock.write(', is: ['writes', '写'] },
  { step: 'release', calls: 'await lock.release()' },
];

/** The numbers and texts of the step lines. Throws if one is missing. */
function stepLines(source: string) {
  const lines = source.split('\n');
  return steps.map(({ calls, ...step }) => {
    const at = lines.findIndex((line) => line.includes(calls));
    if (at < 0) throw new Error(`${SALE_FILE} does not contain ${calls}.`);
    return { ...step, number: at + 1, text: lines[at]?.trim() ?? '' };
  });
}

interface CodeProps {
  files: Record<string, string>;
  stage: string;
  /** The stage to compare with: its file differs only in the marked lines. */
  before?: string | undefined;
  scene: Scene | undefined;
  /** The last beat: the script that Redis ran, and its sale. */
  beat?: Beat | undefined;
}

export const fileOf = (files: Record<string, string>, stage: string) =>
  [`locks/${stage}.ts`, `locks/beyond/${stage}.ts`].find((file) => files[file] !== undefined) ?? '';

export function Code({ files, stage, before, scene, beat }: CodeProps) {
  const file = fileOf(files, stage);
  const text = files[file] ?? '';
  const ran = `lua/${beat?.command?.name}.lua`;
  const running = files[ran] === undefined ? undefined : ran;
  // The stock may have scripts of its own, which the lock does not name.
  const named = namedIn(text, files).filter((each) => each.endsWith('.lua'));
  const scripts = [...new Set([...named, ...(running ? [running] : [])])];
  const [chosen, choose] = useState<string>();
  useEffect(() => choose(undefined), [stage, running]);
  const shown = chosen ?? running ?? file;
  const sales = thereIn(scene);
  const name = (path: string) => path.split('/').at(-1);
  return html`<section class="code" aria-label=${say('code')}>
    <${SaleSteps} source=${files[SALE_FILE] ?? ''} sales=${sales} />
    <p class="tabs">
      ${[file, ...scripts].map((each) => html`<button aria-pressed=${each === shown} onClick=${() => choose(each)}>${name(each)}</button>`)}
      ${before !== undefined && shown === file && html`<small>${say('changed')}</small>`}
    </p>
    ${
      shown === file
        ? html`<${Lines} key=${file} text=${text} before=${before && files[fileOf(files, before)]}
            at=${atLock(scene, beat)} />`
        : html`<${Lines} key=${shown} text=${files[shown] ?? ''} isRunning=${shown === running} at=${[]} />`
    }
  </section>`;
}

const thereIn = (scene: Scene | undefined) =>
  scene?.sales.filter(({ isDead, place }) => !isDead && place !== 'gone') ?? [];

/** The sales at a line of their lock. A sale inside is at none, unless its lock works in the background; a sale that has just left is at the last line. */
export function atLock(scene: Scene | undefined, beat: Beat | undefined): SaleScene[] {
  const there = thereIn(scene);
  const isActing = (own: SaleScene) => own.sale === beat?.sale && beat.command?.about === 'lock';
  return (scene?.sales ?? []).filter(
    (own) => isActing(own) || (there.includes(own) && (own.step === 'acquire' || own.step === 'release')),
  );
}

function SaleSteps({ source, sales }: { source: string; sales: SaleScene[] }) {
  if (source === '') return null;
  return html`<p class="file">sale.ts <small>${say('everySale')}</small></p>
    <ol class="steps">
      ${stepLines(source).map(({ step, number, text, is }) => {
        const here = sales.filter((sale) => sale.step === step);
        const isCrowd = here.length > 1 && (step === 'gap' || step === 'write');
        return html`<li class=${`${here.length > 0 ? 'here' : ''}${isCrowd ? ' crowd' : ''}`}>
          <span class="who">${here.map(({ sale }) => html`<${Chip} sale=${sale} />`)}</span><i>${number}</i><code>${text}</code>${is && html`<small>${inLanguage(is)}</small>`}</li>`;
      })}
    </ol>`;
}

interface LinesProps {
  text: string;
  before?: string | undefined;
  /** The sales at a line. */
  at: Pick<SaleScene, 'sale' | 'line'>[];
  /** True while the whole script runs, as one step. */
  isRunning?: boolean;
}

/** A file without its head comment, with new lines marked. The current line stays in view. */
export function Lines({ text, before, at, isRunning }: LinesProps) {
  const list = useRef<HTMLOListElement>(null);
  const places = at.map(({ line }) => line).join();
  useEffect(() => {
    const here = list.current?.querySelector<HTMLElement>('.here');
    if (here && list.current) list.current.scrollTop = here.offsetTop - list.current.clientHeight / 2;
  }, [places]);
  const isNew = newLines(before ?? text, text);
  const lines = text.replace(/\n$/, '').split('\n');
  const first = Math.max(
    0,
    lines.findIndex((line) => !/^(\/\/|--|$)/.test(line)),
  );
  return html`<ol class=${isRunning ? 'lines running' : 'lines'} ref=${list} tabindex="0">
    ${lines.map((line, index) => {
      const number = index + 1;
      if (index < first || (line === '' && lines[index - 1] === '')) return null;
      const who = at.filter((sale) => sale.line === number);
      return html`<li class=${`${isNew.has(number) ? 'new' : ''}${who.length > 0 ? ' here' : ''}`}>
        <span class="who">${who.map(({ sale }) => html`<${Chip} sale=${sale} />`)}</span><i>${number}</i><code>${line}</code></li>`;
    })}
  </ol>`;
}

/** The numbers of the lines that the previous text does not have. */
function newLines(before: string, text: string): Set<number> {
  const found = new Set<number>();
  let number = 0;
  for (const { value, added, removed } of diffLines(before, text)) {
    if (removed) continue;
    for (const _ of value.replace(/\n$/, '').split('\n')) {
      number += 1;
      if (added) found.add(number);
    }
  }
  return found;
}

/** The scripts and other files that a text mentions. */
function namedIn(text: string, files: Record<string, string>): string[] {
  const scripts = [...text.matchAll(/readScript\('([\w-]+)'\)/g)].map(([, name]) => `lua/${name}.lua`);
  return Object.keys(files).filter((file) => scripts.includes(file) || text.includes(file));
}

/** Those files, to open. */
export const Named = ({ text, files }: { text: string; files: Record<string, string> }) =>
  namedIn(text, files).map(
    (file) => html`<details><summary><code>${file}</code></summary><pre tabindex="0">${files[file]}</pre></details>`,
  );
