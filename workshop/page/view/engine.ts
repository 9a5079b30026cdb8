// The labs in their workers: each runs one task after the other.

import type { Calls, Ready, Result, Task } from '../worker.ts';
import type { Told } from './wording.ts';

/** Defined by page.html: unpacks a part of the file. */
declare function unpacked(id: string): Promise<Response>;

interface Waiting {
  task: Task;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A worker's port and its current task. */
interface Lab {
  port?: MessagePort | undefined;
  end?(): void;
  doing?: Waiting | undefined;
  /** When the task started, in milliseconds since the page loaded. */
  since: number;
  /** How many times it has been checked since. */
  looks: number;
}

/** How often to check whether a user's lock has finished, in milliseconds. */
const LOOK_MS = 250;
/** The most checks per task: on an idle machine a scenario takes one or two. */
const mostLooks = (call: keyof Calls) => (call === 'search' ? 40 : 14);
/** On a slow machine, a user's scenario may take this many times as long as a built-in lock's. */
const SLACK = 6;
/** The largest slowness assumed, so that a lock that never finishes is stopped eventually. */
const MOST_SLOWNESS = 20;

/** A task with a user's lock did not finish, for an unknown reason: its lab was stopped and replaced. */
export class LateError extends Error {
  /** The reason, as a text of the page. */
  readonly told: Told[];

  constructor(told: Told[]) {
    super('It did not finish in time.');
    this.told = told;
  }
}

const lateError = (call: keyof Calls, ms: number) =>
  new LateError([{ text: call === 'search' ? 'lateSearch' : 'lateScenario', values: { s: (ms / 1_000).toFixed(1) } }]);

export type Engine = ReturnType<typeof startEngine>;

/** Starts this many labs. `isApart`: for users' locks, which may exhaust their memory there without harming the page. */
export function startEngine({ count = 1, isApart = false } = {}) {
  const packed = unpacked('lab').then((part) => part.json());
  const valkey = unpacked('valkey').then((part) => part.arrayBuffer());
  const labs = Array.from({ length: count }, (): Lab => ({ since: 0, looks: 0 }));
  let queue: Waiting[] = [];
  let lastId = 0;
  /** How much slower than a fast machine this one is, as measured by the latest lab. */
  let slowness = 1;

  /** Resolves with the lab's first message when it is ready. */
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

  /** A warm run, without a user's lock, measures how fast the machine is. */
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

  /** Stops all current and waiting tasks with a lock: they never settle. */
  function forget(own: string) {
    const isOf = ({ task }: Waiting) => task.given.own === own;
    queue = queue.filter((each) => !isOf(each));
    for (const lab of labs) if (lab.doing && isOf(lab.doing)) beginAnew(lab);
  }

  const ready = Promise.race(labs.map(start));

  return {
    /** The texts of the project's files, by path. */
    files: packed.then(({ files }): Record<string, string> => files),
    /** What the lab can do, once it is ready. */
    ready,
    /** Stops tasks with a user's lock whose result is no longer needed. */
    forget,
    /** Runs a task in a lab, after the tasks before it have started. Rejects with the reason if it can't be done. */
    ask<Call extends keyof Calls>(call: Call, given: Parameters<Calls[Call]>[0]): ReturnType<Calls[Call]> {
      lastId += 1;
      const task = { id: lastId, call, given };
      const answer = new Promise((resolve, reject) => queue.push({ task, resolve, reject }));
      for (const lab of labs) sendNext(lab);
      return answer as ReturnType<Calls[Call]>;
    },
  };
}

/** Starts a worker with the port. Returns a function that stops it. */
function begin(lines: string[], given: object, port: MessagePort) {
  const url = URL.createObjectURL(new Blob(lines, { type: 'text/javascript' }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.postMessage(given, [port]);
  return () => worker.terminate();
}

/** Starts one in a frame with a separate origin, and so a separate Chromium process: running out of memory kills only that. */
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
