// The labs in their workers, as the page asks them: each does one thing after the other.

import type { Calls, Ready, Result, Task } from '../worker.ts';

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
  /** How often one has looked since it began to do this. */
  looks: number;
}

/** How often one looks whether a lock of one's own has come to an end, in milliseconds. */
const LOOK_MS = 250;
/** So often, for each thing that is asked of it: at rest it takes one look or two. */
const MOST_LOOKS = 14;
/** On a slow machine, so many times as often as a lock of the course has needed. */
const SLACK = 6;

/** A lock of one's own has come to no end: nobody knows why. The lab was ended, and a new one is there. */
export class LateError extends Error {
  readonly seconds: number;

  constructor(looks: number) {
    super();
    this.seconds = (looks * LOOK_MS) / 1_000;
  }
}

export type Engine = ReturnType<typeof startEngine>;

/** Starts so many labs. `isApart`: a lock may fill the memory there, and the page goes on. */
export function startEngine({ count = 1, isApart = false } = {}) {
  const packed = unpacked('lab').then((part) => part.json());
  const valkey = unpacked('valkey').then((part) => part.arrayBuffer());
  const labs = Array.from({ length: count }, (): Lab => ({ looks: 0 }));
  let queue: Waiting[] = [];
  let lastId = 0;
  let mostLooks = MOST_LOOKS;

  /** Resolves with what the lab says when it is ready. */
  async function start(lab: Lab): Promise<Ready> {
    const { worker: code, ...rest } = await packed;
    const lines = [
      'onmessage = ({ data, ports: [port] }) => { onmessage = null; globalThis.packed = data;',
      code,
      '};',
    ];
    const given = { ...rest, wasm: new Uint8Array(await valkey) };
    const { port1, port2 } = new MessageChannel();
    const ready = new Promise<Ready>((resolve) => {
      port1.onmessage = ({ data }) => resolve(data);
    });
    lab.end = (isApart ? beginApart : begin)(lines, given, port2);
    const said = await ready;
    port1.onmessage = ({ data }: MessageEvent<Result>) => hear(lab, data);
    lab.port = port1;
    sendNext(lab);
    return said;
  }

  function hear(lab: Lab, result: Result) {
    const { doing } = lab;
    if (doing?.task.id !== result.id) return;
    const { own } = doing.task.given;
    if (own === undefined) mostLooks = Math.max(mostLooks, lab.looks * SLACK);
    // What can't be played may have changed its lab: none that has met it plays another one.
    if ('problem' in result && own !== undefined && doing.task.call === 'play')
      return endAll(own, new Error(result.problem));
    lab.doing = undefined;
    if ('problem' in result) doing.reject(new Error(result.problem));
    else doing.resolve(result.value);
    sendNext(lab);
  }

  function sendNext(lab: Lab) {
    if (lab.port === undefined || lab.doing) return;
    lab.doing = queue.shift();
    lab.looks = 0;
    if (lab.doing) lab.port.postMessage(lab.doing.task);
  }

  setInterval(() => {
    for (const lab of labs) {
      const own = lab.doing?.task.given.own;
      lab.looks += 1;
      if (own !== undefined && lab.looks >= mostLooks) endAll(own, new LateError(lab.looks));
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
      lab.end?.();
      Object.assign(lab, { port: undefined, doing: undefined });
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
    /** Ends what is done with a lock of one's own, which nobody wants to know any more. */
    forget: (own: string) => endAll(own, new LateError(0)),
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
    onmessage = ({ data, ports: [port] }) => { onmessage = null; ${begin.name}(data.lines, data.given, port); };`;
  Object.assign(frame, { sandbox: 'allow-scripts', hidden: true, srcdoc: `<script>${code}</script>` });
  frame.onload = () => frame.contentWindow?.postMessage({ lines, given }, '*', [port]);
  document.body.append(frame);
  return () => frame.remove();
}
