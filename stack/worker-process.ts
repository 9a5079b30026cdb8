// A worker process that does one task after another: both ends of it.

import { type ChildProcess, fork } from 'node:child_process';
import { SIGN_EVERY_MS, type Silence, type SilenceLimits, watchSilence } from './signs.ts';

export interface WorkerOptions {
  /** The arguments with which Node runs it. */
  node: string[] | Promise<string[]>;
  /** Options of Node besides. */
  execArgv?: string[];
  /** How long it may give no sign. */
  limits: SilenceLimits;
}

export type Worker<Answer> = ReturnType<typeof openWorker<Answer>>;

/** A worker process, started at its first task. When it has ended, another one does the next task. */
export function openWorker<Answer>({ node, execArgv = [], limits }: WorkerOptions) {
  let current: ChildProcess | undefined;
  /** It has answered, so it does not start any more. */
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
   * Resolves with its answer; with undefined when it dies before, and also when it is killed because it gives no sign: `onSilence` is
   * told first.
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

/** The other end: does each task that arrives, and responds. */
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
