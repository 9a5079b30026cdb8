// The labs in their workers, as the page asks them: each does one thing after the other.

import type { Calls, Ready, Result, Sign, Task } from '../worker.ts';

/** The page's own: unpacks a part of its file. */
declare function unpacked(id: string): Promise<Response>;

interface Waiting {
  task: Task;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A worker, and what it does. */
interface Lab {
  worker?: Worker | undefined;
  doing?: Waiting | undefined;
  silentLooks: number;
}

/** How often a sign of the lab is looked for, in milliseconds: as often as it gives one. */
const LOOK_MS = 250;
/** A lab that gives no sign for so many looks is kept by its lock for ever. On a busy machine the looks are late as the signs are. */
const SILENT_LOOKS = 12;

/** A lock of one's own goes on for ever. The lab was ended, and a new one is there. */
export class EndlessError extends Error {}

export type Engine = ReturnType<typeof startEngine>;

/** Starts so many labs. */
export function startEngine(count = 1) {
  const packed = unpacked('lab').then((part) => part.json());
  const valkey = unpacked('valkey').then((part) => part.arrayBuffer());
  const labs = Array.from({ length: count }, (): Lab => ({ silentLooks: 0 }));
  let queue: Waiting[] = [];
  let lastId = 0;

  /** Resolves with what the lab says when it is ready. */
  async function start(lab: Lab): Promise<Ready> {
    const { worker: code, ...rest } = await packed;
    const lines = ['onmessage = ({ data }) => { onmessage = null; globalThis.packed = data;', code, '};'];
    const url = URL.createObjectURL(new Blob(lines, { type: 'text/javascript' }));
    const started = new Worker(url);
    URL.revokeObjectURL(url);
    const ready = new Promise<Ready>((resolve) => {
      started.addEventListener('message', ({ data }) => resolve(data), { once: true });
    });
    started.postMessage({ ...rest, wasm: new Uint8Array(await valkey) });
    const said = await ready;
    started.onmessage = ({ data }: MessageEvent<Result | Sign>) => {
      if ('isEndless' in data) lab.silentLooks = data.isEndless ? SILENT_LOOKS : 0;
      else hear(lab, data);
    };
    lab.worker = started;
    sendNext(lab);
    return said;
  }

  function hear(lab: Lab, result: Result) {
    const { doing } = lab;
    if (doing?.task.id !== result.id) return;
    const { own } = doing.task.given;
    // What can't be played may have changed its lab: none that has met it plays another one.
    if ('problem' in result && own !== undefined && doing.task.call === 'play')
      return endAll(own, new Error(result.problem));
    lab.doing = undefined;
    if ('problem' in result) doing.reject(new Error(result.problem));
    else doing.resolve(result.value);
    sendNext(lab);
  }

  function sendNext(lab: Lab) {
    if (lab.worker === undefined || lab.doing) return;
    lab.doing = queue.shift();
    if (lab.doing === undefined) return;
    lab.worker.postMessage(lab.doing.task);
    lab.silentLooks = 0;
  }

  setInterval(() => {
    for (const lab of labs) {
      const own = lab.doing?.task.given.own;
      if (own === undefined) continue;
      if (lab.silentLooks >= SILENT_LOOKS) endAll(own, new EndlessError());
      lab.silentLooks += 1;
    }
  }, LOOK_MS);

  /** Ends whatever is done with a lock, and was to be done. */
  function endAll(own: string, error: Error) {
    const isOf = ({ task }: Waiting) => task.given.own === own;
    const ended = queue.filter(isOf);
    queue = queue.filter((each) => !isOf(each));
    for (const lab of labs) {
      if (!lab.doing || !isOf(lab.doing)) continue;
      ended.push(lab.doing);
      lab.worker?.terminate();
      Object.assign(lab, { worker: undefined, doing: undefined });
      void start(lab);
    }
    for (const each of ended) each.reject(error);
  }

  const ready = Promise.race(labs.map(start));

  return {
    count,
    /** The texts of the project's files, by their paths in it. */
    files: packed.then(({ files }): Record<string, string> => files),
    /** What can be done, once a lab is there. */
    ready,
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
