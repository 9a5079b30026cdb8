// The lab in its worker, as the page asks it: one cell after the other.

import type { Ready, Result, Task } from '../worker.ts';

/** The page's own: unpacks a part of its file. */
declare function unpacked(id: string): Promise<Response>;

export type Played = Exclude<Result, { problem: string }>;
export type Cell = Omit<Task, 'id'>;

interface Waiting {
  task: Task;
  resolve(played: Played): void;
  reject(error: Error): void;
}

export type Engine = ReturnType<typeof startEngine>;

/** Starts the lab. */
export function startEngine() {
  const lab = unpacked('lab').then((part) => part.json());
  const valkey = unpacked('valkey').then((part) => part.arrayBuffer());
  const queue: Waiting[] = [];
  let worker: Worker | undefined;
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
    started.onmessage = ({ data }: MessageEvent<Result>) => hear(data);
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

  const sendFirst = () => queue[0] && worker?.postMessage(queue[0].task);

  const ready = start();
  void ready.then(sendFirst);

  return {
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
