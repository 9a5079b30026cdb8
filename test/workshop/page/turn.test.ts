import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { projectDir } from '../../../stack/parts.ts';
import { startEngine } from '../../../workshop/page/view/engine.ts';
import type { PageExercise } from '../../../workshop/page/view/exercises.ts';
import { judge } from '../../../workshop/page/view/judging.ts';
import type { Task } from '../../../workshop/page/worker.ts';
import { violations } from '../../soak/workshop/violations.ts';
import { hasBrowser } from '../browser.ts';
import { solutionOf } from '../exercises/own-exercises.ts';
import { button } from '../live-page.ts';
import { ownPage } from './open-page.ts';

const solution = solutionOf({ solution: join(projectDir, 'locks/5-owner-check.ts') });
/** It would say of itself that it holds, if what the lab itself uses could be changed. And it lets nobody in. */
const liar = `const { postMessage } = MessagePort.prototype;
  const { then } = Promise.prototype;
  const { get } = Object.getOwnPropertyDescriptor(MessageEvent.prototype, 'data');
  function better(said) {
    Object.assign(said ?? {}, said?.states && { verdict: 'holds' });
    Object.assign(said?.record ?? {}, { verdict: 'pass' });
    return said;
  }
  Reflect.defineProperty(Promise.prototype, 'then', {
    value(done, ...more) { return then.call(this, done && ((said) => done(better(said))), ...more); },
  });
  Reflect.defineProperty(MessagePort.prototype, 'postMessage', {
    value(said) { better(said.value); postMessage.call(this, said); },
  });
  Reflect.defineProperty(MessageEvent.prototype, 'data', {
    get() {
      const task = get.call(this);
      const record = { verdict: 'pass', says: [] };
      postMessage.call(this.target, { id: task.id, value: { record, verdict: 'holds', why: {} } });
      return task;
    },
  });
  export const createLock = () => ({ acquire: () => new Promise(() => {}), async release() {} });`;
/** What right locks do, and may. */
const usual = `console.log('A right lock prints.');
  const own = {};
  for (const name of ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'name']) {
    for (const mine of [own, new Error()]) {
      mine[name] = () => name;
      if (mine[name]() !== name) throw mine;
    }
  }
  Object.assign({}, { toString() {} });
  function OwnError() {}
  OwnError.prototype = Object.create(Error.prototype);
  OwnError.prototype.constructor = OwnError;
  OwnError.prototype.name = 'OwnError';
  Error.stackTraceLimit = 20;
  `;
const throwing = `export const createLock = () => ({
  async acquire() {
    try {
      throw new Error('mine');
    } finally {
      await null;
    }
  },
  async release() {},
});`;
const endless = 'export const createLock = () => ({ async acquire() { for (;;) {} }, async release() {} });';

/** So often one looks while the lab does something, by its name. `first` and `second` are what it plays as it begins. */
type Looks = Record<string, number>;

test.each<[string, Looks, string[]]>([
  ['just in time', { one: 13, plain: 39 }, ['one pass', 'two pass', 'plain pass', 'nested-call pass']],
  [
    'a scenario and a search late',
    { one: 14, plain: 40 },
    ['one unknown', 'two pass', 'plain unknown', 'nested-call pass'],
  ],
  ['two scenarios late: the rest is not played', { one: 14, two: 14 }, ['one unknown', 'two unknown', 'late']],
  [
    'a lab that is slow at first alone is given no more time',
    { first: 50, second: 1, one: 14 },
    ['one unknown', 'two pass', 'plain pass', 'nested-call pass'],
  ],
  [
    'a slow machine is given more',
    { first: 50, second: 7, one: 41 },
    ['one pass', 'two pass', 'plain pass', 'nested-call pass'],
  ],
])('%s', async (_, looks, said) => {
  const ports: MessagePort[] = [];
  let look = () => {};
  const lab = {
    postMessage(_: unknown, _to: string, [port]: [MessagePort]) {
      const begins = ['first', 'second'];
      ports.push(port);
      port.onmessage = ({
        data: { id, given },
      }: MessageEvent<Task & { given: { drill?: string; scope?: string } }>) => {
        const name = given.own === undefined ? begins.shift() : (given.drill ?? given.scope);
        for (let time = 0; time < (looks[name ?? ''] ?? 0); time += 1) look();
        const value = given.drill ? { record: { verdict: 'pass', says: [] } } : { verdict: 'holds', why: {} };
        port.postMessage({ id, value });
      };
      port.postMessage({});
    },
  };
  const frame = { contentWindow: lab, onload() {}, remove() {} };
  vi.stubGlobal('document', { createElement: () => frame, body: { append: () => frame.onload() } });
  vi.stubGlobal('unpacked', async () => Response.json({ worker: '' }));
  vi.stubGlobal('setInterval', (often: () => void) => (look = often));
  onTestFinished(() => {
    vi.unstubAllGlobals();
    for (const port of ports) port.close();
  });
  const drills = ['one', 'two'].map((name) => ({ name, asks: '', isLoad: false }));
  const search = { scopes: ['plain', 'nested-call'] };
  const exercise = { drills: ['one', 'two'], search } as unknown as PageExercise;

  const { judged, late } = await judge(startEngine({ isApart: true }), { text: '', exercise, drills }, () => {});
  const found = judged.map(({ name, verdict }) => `${name} ${verdict}`);
  expect([...found, ...(late ? ['late'] : [])].toSorted()).toEqual(said.toSorted());
});

describe.skipIf(!hasBrowser)('your turn (skipped where there is no Chromium)', () => {
  const own = ownPage();
  const says = (page: Page, text: RegExp) => page.locator('.write [role=status]', { hasText: text }).waitFor();

  async function take(page: Page, text: string) {
    const file = { name: 'lock.ts', mimeType: 'text/plain', buffer: Buffer.from(text) };
    await page.locator('input[type=file]').setInputFiles(file);
    await says(page, /It only runs when you press the button/);
  }

  /** Plays all scenarios until the time of one is up. */
  const playTooLong = (page: Page) =>
    page.waitForFunction(() => {
      const { looks } = globalThis as unknown as { looks: (() => void)[] };
      document.querySelector<HTMLElement>('.write button.main')?.click();
      for (let time = 0; time < 100; time += 1) for (const look of looks) look();
      return /No verdict/.test(document.querySelector('.write [role=status]')?.textContent ?? '');
    });

  test('no lock judges itself: what it would change is as it was; what comes no further by the virtual clock is no verdict', async () => {
    const page = await own.open();
    await button(page, 'Your turn').click();
    await page.getByRole('combobox').selectOption('05-owner-check');
    await take(page, liar);
    // What the first time has changed in a lab is there the second time.
    for (let time = 0; time < 2; time += 1) {
      await button(page, 'Play all scenarios').click();
      await page.locator('button.main[aria-disabled=false]').waitFor();
      await says(page, /0 of 4 checks pass/);
      expect(await page.locator('.results .pass').count()).toBe(0);
      await page.locator('.results details').evaluate((others: HTMLDetailsElement) => {
        others.open = true;
      });
      await page.locator('.results .unknown button').click();
      await page.locator('.why', { hasText: 'The drill is stuck' }).waitFor();
    }
  });

  test('who types faster than the page draws finds what was typed; a reset can be undone; the editor is named in the language of the page', async () => {
    const page = await own.open();
    await button(page, 'Your turn').click();
    const editor = page.locator('.cm-content');
    await editor.focus();
    const typed = [...'// faster than it is drawn', ...Array(5).fill('Backspace'), 'Enter'];
    await Promise.all(typed.map((key) => page.keyboard.press(key)));
    const wanted = '// faster than it is ';

    expect(await editor.locator('.cm-line').first().textContent()).toBe(wanted);
    await button(page, 'Reset').click();
    await page.locator('.cm-line', { hasText: wanted }).waitFor({ state: 'detached' });
    await editor.press('Control+z');
    await page.locator('.cm-line', { hasText: wanted }).waitFor();
    await button(page, '中文').click();
    await page.getByRole('textbox', { name: '你的锁' }).waitFor();
    expect(await editor.textContent()).toContain(wanted);
  });

  test('nothing runs before one plays; a lock that never ends is ended, and the page goes on; the solution is judged, and kept', async () => {
    const page = await own.open({ viewport: { width: 1_280, height: 720 }, bypassCSP: true });
    // What somebody else says to the frame of a lab begins nothing there.
    await page.evaluate(() => {
      const say = ({ target }: Event) => (target as HTMLIFrameElement).contentWindow?.postMessage({}, '*');
      document.addEventListener('load', say, true);
    });
    await button(page, 'Your turn').click();
    await page.getByRole('combobox').selectOption('05-owner-check');

    // The second would answer the page in the name of the lab, and the third would have it find nothing.
    for (const [text, problem] of [
      ['const half = (', /can't be played: Line 1: Unexpected token/],
      ['export const createLock = () => {\n  if ((true)\n    return;\n};', /can't be played: Line 3: Unexpected token/],
      [
        '\npostMessage({ id: 1, value: {} }); export const createLock = () => {};',
        /can't be played: Line 2: postMessage is not/,
      ],
      [
        'Array.prototype.find = () => {}; export const createLock = () => {};',
        /can't be played: Line 1: Cannot assign to read only/,
      ],
    ] as const) {
      await take(page, text);
      await button(page, 'Play all scenarios').click();
      await says(page, problem);
    }
    // A right lock, too, may come to no end on a busy machine: that is no verdict.
    for (const text of [endless, solution]) {
      await take(page, text);
      await playTooLong(page);
      expect(await page.locator('.write [role=status]').getAttribute('class')).toBe('outcome');
      expect(await page.getByText('✔ Solved', { exact: true }).count()).toBe(0);
    }
    // What fills the memory ends a process that is not the page's.
    const browser = await page.context().browser()?.newBrowserCDPSession();
    const targets = await browser?.send('Target.getTargets');
    expect(targets?.targetInfos.map(({ type }) => type)).toContain('iframe');

    // What is judged is the text that stands there, not those before, which nobody waits for.
    for (const text of [solution, endless]) {
      await take(page, `${text}\n`);
      await button(page, 'Play all scenarios').click();
    }
    await button(page, 'Reset').press('Enter');
    // Who goes by keys goes on from there.
    expect(await page.locator(':focus').textContent()).toBe('Reset');
    await button(page, 'Play all scenarios').click();
    await says(page, /Not solved yet\. 2 of 4 checks pass/);
    expect(await page.getByText('✔ Solved', { exact: true }).count()).toBe(0);
    // Each sale stands at its line of the lock, in the scenario and in the interleaving that breaks it.
    for (const name of ['✘ slow-holder', '✘ every interleaving: slow-holder']) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('button', { name: 'To the deciding moment' }).click();
      await page.locator('.said.bad').waitFor();
      await page.locator('.cm-here', { hasText: 'await ' }).first().waitFor();
      expect(await violations(page)).toEqual([]);
    }

    // What it throws has a line, whatever has run since.
    await take(page, throwing);
    await button(page, 'Play all scenarios').click();
    await says(page, /0 of 4 checks pass/);
    await page.locator('.why', { hasText: 'Line 4: No sale succeeded: acquire() fails: Error: mine' }).waitFor();
    await page.locator('.cm-bad', { hasText: "throw new Error('mine');" }).waitFor();

    await take(page, `${usual}${solution}`);
    await button(page, 'Play all scenarios').click();
    await says(page, /Solved\./);
    // The address says which exercise it is.
    await page.reload();
    await page.getByText('Solution', { exact: true }).click();
    await page.getByText('✔ Solved', { exact: true }).waitFor();
    expect(await page.locator('.cm-content').textContent()).toContain('ownerToken, ');
  });
});
