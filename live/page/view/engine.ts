// The lab in its worker, as the page asks it: one cell after the other.

import type { Played, Ready, Result, Sign, Task } from '../worker.ts';

/** The page's own: unpacks a part of its file. */
declare function unpacked(id: string): Promise<Response>;

export type Cell = Omit<Task, 'id'>;

interface Waiting {
  task: Task;
  resolve(played: Played): void;
  reject(error: Error): void;
}

/** How often a sign of the lab is looked for, in milliseconds: as often as it gives one. */
const LOOK_MS = 250;
/** A lab that gives no sign for so many looks is kept by its lock for ever. On a busy machine the looks are late as the signs are. */
const SILENT_LOOKS = 14;

/** A lock of one's own goes on for ever. The lab was ended, and a new one is there. */
export class EndlessError extends Error {}

export type Engine = ReturnType<typeof startEngine>;

/** Starts the lab. */
export function startEngine() {
  const lab = unpacked('lab').then((part) => part.json());
  const valkey = unpacked('valkey').then((part) => part.arrayBuffer());
  const queue: Waiting[] = [];
  let worker: Worker | undefined;
  let silentLooks = 0;
  let lastId = 0;

  /** Resolves with what the lab says when it is ready. */
  async function start(): Promise<Ready> {
    const { worker: code, ...rest } = await lab;
    const lines = ['onmessage = ({ data }) => { onmessage = null; globalThis.packed = data;', code, '};'];
    const url = URL.createObjectURL(new Blob(lines, { type: 'text/javascript' }));
    const started = new Worker(url);
    URL.revokeObjectURL(url);
    const ready = new Promise<Ready>((resolve) => {
      started.addEventListener('message', ({ data }) => resolve(data), { once: true });
    });
    started.postMessage({ ...rest, wasm: new Uint8Array(await valkey) });
    const said = await ready;
    started.onmessage = ({ data }: MessageEvent<Result | Sign>) => ('isEndless' in data ? hearSign(data) : hear(data));
    worker = started;
    return said;
  }

  function hear(result: Result) {
    const [first] = queue;
    if (first?.task.id !== result.id) return;
    queue.shift();
    if ('problem' in result) first.reject(new Error(result.problem));
    else first.resolve(result);
    sendFirst();
  }

  function sendFirst() {
    const task = queue[0]?.task;
    if (task === undefined || worker === undefined) return;
    worker.postMessage(task);
    silentLooks = 0;
  }

  function hearSign({ isEndless }: Sign) {
    silentLooks = isEndless ? SILENT_LOOKS : 0;
  }

  setInterval(() => {
    const own = queue[0]?.task.own;
    if (own === undefined || worker === undefined) return;
    if (silentLooks >= SILENT_LOOKS) endWorker(own);
    silentLooks += 1;
  }, LOOK_MS);

  /** Ends what plays a lock for ever, and whatever else was to be played of that lock. */
  function endWorker(own: string) {
    worker?.terminate();
    worker = undefined;
    for (const each of queue.splice(0))
      if (each.task.own === own) each.reject(new EndlessError());
      else queue.push(each);
    void start().then(sendFirst);
  }

  const ready = start();
  void ready.then(sendFirst);

  return {
    /** The texts of the project's files, by their paths in it. */
    files: lab.then(({ files }): Record<string, string> => files),
    /** What can be played, once the lab is there. */
    ready,
    /** Plays a cell, when those before it are over. Rejects with why it can't be played. */
    play(cell: Cell): Promise<Played> {
      lastId += 1;
      const task = { ...cell, id: lastId };
      return new Promise((resolve, reject) => {
        queue.push({ task, resolve, reject });
        if (queue.length === 1) sendFirst();
      });
    },
  };
}
