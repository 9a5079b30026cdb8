// A worker process that runs tasks one by one: both ends of it.

import { type ChildProcess, fork } from 'node:child_process';
import { SIGN_EVERY_MS, type Silence, type SilenceLimits, watchSilence } from './signs.ts';

export interface WorkerOptions {
  /** The Node arguments to run it. */
  node: string[] | Promise<string[]>;
  /** Extra Node options. */
  execArgv?: string[];
  /** How long it may stay silent. */
  limits: SilenceLimits;
}

export type Worker<Answer> = ReturnType<typeof openWorker<Answer>>;

/** A process, started at its first task. If it has ended, a new one runs the next task. */
export function openWorker<Answer>({ node, execArgv = [], limits }: WorkerOptions) {
  let current: ChildProcess | undefined;
  /** True once it has responded, so it is no longer starting. */
  let hasAnswered = false;

  function start(args: string[]): ChildProcess {
    hasAnswered = false;
    return fork(args.at(-1) ?? '', {
      execArgv: [...args.slice(0, -1), '--disable-warning=ExperimentalWarning', ...execArgv],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  }

  function end() {
    current?.kill('SIGKILL');
    current = undefined;
  }

  /**
   *
   * Resolves with its result; with undefined if it dies first, or is killed because it stays silent: `onSilence` is called
   * first.
   *
   */
  async function ask(task: object, onSilence = (_found: Silence) => {}): Promise<Answer | undefined> {
    const worker = current ?? start(await node);
    current = worker;
    const silence = watchSilence(
      () => worker.pid ?? 0,
      limits,
      (found) => {
        onSilence(found);
        worker.kill('SIGKILL');
      },
    );
    if (hasAnswered) silence.hearSign();
    const answer = await new Promise<Answer | 'ended before' | undefined>((resolve) => {
      worker.on('message', (message: Answer | 'alive') => {
        if (message === 'alive') silence.hearSign();
        else resolve(message);
      });
      for (const event of ['exit', 'error']) worker.once(event, () => resolve(undefined));
      worker.send(task, (error) => error && resolve('ended before'));
    });
    silence.close();
    worker.removeAllListeners();
    hasAnswered = true;
    if (answer === undefined || answer === 'ended before') end();
    return answer === 'ended before' ? ask(task, onSilence) : answer;
  }

  return { ask, end };
}

/** The other end: runs each task that arrives, and replies. */
export function answerTasks<Task>(act: (task: Task) => Promise<object>) {
  // Nobody waits for it any more when the other end has gone.
  const say = (what: object | 'alive') => void process.send?.(what, () => {});
  process.on('message', async (task: Task) => {
    say('alive');
    say(await act(task));
  });
  process.on('disconnect', () => process.exit());
  setInterval(() => say('alive'), SIGN_EVERY_MS);
}
