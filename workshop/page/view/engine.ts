// The labs in their workers, as the page asks them: each does one thing after the other.

import type { Calls, Ready, Result, Task } from '../worker.ts';
import type { Told } from './wording.ts';

/** The page's own: unpacks a part of its file. */
declare function unpacked(id: string): Promise<Response>;

interface Waiting {
  task: Task;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The way to a worker, and what it does. */
interface Lab {
  port?: MessagePort | undefined;
  end?(): void;
  doing?: Waiting | undefined;
  /** When it began to do this, in milliseconds since the page began. */
  since: number;
  /** How often one has looked since. */
  looks: number;
}

/** How often one looks whether a lock of one's own has come to an end, in milliseconds. */
const LOOK_MS = 250;
/** So often, for each thing that is asked of it: at rest a scenario takes one look or two. */
const mostLooks = (call: keyof Calls) => (call === 'search' ? 40 : 14);
/** On a slow machine a scenario may take so many times as long as one of a lock of the course has. */
const SLACK = 6;
/** No machine is believed to be slower than that: a lock without an end is ended some day. */
const MOST_SLOWNESS = 20;

/** What was done with a lock of one's own has come to no end, and nobody knows why: its lab was ended, and a new one is there. */
export class LateError extends Error {
  /** Why, in the words of the page. */
  readonly told: Told[];

  constructor(told: Told[]) {
    super('It has come to no end in time.');
    this.told = told;
  }
}

const lateError = (call: keyof Calls, ms: number) =>
  new LateError([{ text: call === 'search' ? 'lateSearch' : 'lateScenario', values: { s: (ms / 1_000).toFixed(1) } }]);

export type Engine = ReturnType<typeof startEngine>;

/** Starts so many labs. `isApart`: they are for locks of one's own. Such a lock may fill the memory there, and the page goes on. */
export function startEngine({ count = 1, isApart = false } = {}) {
  const packed = unpacked('lab').then((part) => part.json());
  const valkey = unpacked('valkey').then((part) => part.arrayBuffer());
  const labs = Array.from({ length: count }, (): Lab => ({ since: 0, looks: 0 }));
  let queue: Waiting[] = [];
  let lastId = 0;
  /** How many times as long as on a fast machine something may take: as the lab has found that began last. */
  let slowness = 1;

  /** Resolves with what the lab says when it is ready. */
  async function start(lab: Lab): Promise<Ready> {
    const { worker: code, ...rest } = await packed;
    const lines = [
      // The brackets have it compiled at once, and not twice.
      'onmessage = (function ({ data, ports: [port] }) { onmessage = null; globalThis.packed = data;',
      code,
      '});',
    ];
    const given = { ...rest, wasm: new Uint8Array(await valkey) };
    const { port1, port2 } = new MessageChannel();
    const ready = new Promise<Ready>((resolve) => {
      port1.onmessage = ({ data }) => resolve(data);
    });
    lab.end = (isApart ? beginApart : begin)(lines, given, port2);
    const said = await ready;
    if (isApart) await warmUp(lab, port1);
    port1.onmessage = ({ data }: MessageEvent<Result>) => hear(lab, data);
    lab.port = port1;
    sendNext(lab);
    return said;
  }

  /** What has run once runs faster, so it says how fast the machine is. No lock of one's own is in it. */
  async function warmUp(lab: Lab, port: MessagePort) {
    const given = { stage: '4-ttl', drill: 'slow-holder' };
    for (let time = 0; time < 2; time += 1) {
      lab.looks = 0;
      await new Promise((resolve) => {
        port.onmessage = resolve;
        port.postMessage({ id: 0, call: 'play', given } satisfies Task);
      });
    }
    slowness = Math.min(MOST_SLOWNESS, Math.max(1, (lab.looks * SLACK) / mostLooks('play')));
  }

  function hear(lab: Lab, result: Result) {
    const { doing } = lab;
    if (doing?.task.id !== result.id) return;
    const { call, given } = doing.task;
    const isPlay = call === 'play';
    if ('problem' in result) doing.reject(Object.assign(new Error(result.problem), { line: result.line }));
    else doing.resolve(result.value);
    // What can't be played may have changed its lab: none that has met it plays another one.
    if ('problem' in result && isPlay && given.own !== undefined) return forget(given.own);
    lab.doing = undefined;
    sendNext(lab);
  }

  function sendNext(lab: Lab) {
    if (lab.port === undefined || lab.doing) return;
    lab.doing = queue.shift();
    Object.assign(lab, { since: performance.now(), looks: 0 });
    if (lab.doing) lab.port.postMessage(lab.doing.task);
  }

  setInterval(() => {
    for (const lab of labs) {
      const { doing } = lab;
      lab.looks += 1;
      if (doing?.task.given.own === undefined || lab.looks < mostLooks(doing.task.call) * slowness) continue;
      doing.reject(lateError(doing.task.call, performance.now() - lab.since));
      beginAnew(lab);
    }
  }, LOOK_MS);

  function beginAnew(lab: Lab) {
    lab.end?.();
    Object.assign(lab, { port: undefined, doing: undefined });
    void start(lab);
  }

  /** Ends whatever is done with a lock, and was to be done: it is never answered. */
  function forget(own: string) {
    const isOf = ({ task }: Waiting) => task.given.own === own;
    queue = queue.filter((each) => !isOf(each));
    for (const lab of labs) if (lab.doing && isOf(lab.doing)) beginAnew(lab);
  }

  const ready = Promise.race(labs.map(start));

  return {
    /** The texts of the project's files, by their paths in it. */
    files: packed.then(({ files }): Record<string, string> => files),
    /** What can be done, once a lab is there. */
    ready,
    /** Ends what is done with a lock of one's own, which nobody wants to know any more. */
    forget,
    /** Has a lab do something, when what was asked before is under way. Rejects with why it can't be done. */
    ask<Call extends keyof Calls>(call: Call, given: Parameters<Calls[Call]>[0]): ReturnType<Calls[Call]> {
      lastId += 1;
      const task = { id: lastId, call, given };
      const answer = new Promise((resolve, reject) => queue.push({ task, resolve, reject }));
      for (const lab of labs) sendNext(lab);
      return answer as ReturnType<Calls[Call]>;
    },
  };
}

/** Begins a worker that is given the port. Returns what ends it. */
function begin(lines: string[], given: object, port: MessagePort) {
  const url = URL.createObjectURL(new Blob(lines, { type: 'text/javascript' }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.postMessage(given, [port]);
  return () => worker.terminate();
}

/** Begins one in a frame of an origin of its own: for that Chromium has a process of its own, which the memory ends alone. */
function beginApart(lines: string[], given: object, port: MessagePort) {
  const frame = document.createElement('iframe');
  const code = `const ${begin.name} = ${begin};
    onmessage = ({ source, data, ports: [port] }) => {
      if (source !== parent || !port) return;
      onmessage = null;
      ${begin.name}(data.lines, data.given, port);
    };`;
  Object.assign(frame, { sandbox: 'allow-scripts', hidden: true, srcdoc: `<script>${code}</script>` });
  frame.onload = () => frame.contentWindow?.postMessage({ lines, given }, '*', [port]);
  document.body.append(frame);
  return () => frame.remove();
}
