// npm run live: a page that a teacher projects, on which a room sees what happens in the stack and breaks it.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { leaseLength, newCommand, runningOf, runningOptions } from '../loadtest/commands/command-line.ts';
import { exitWhenWritten, runToEnd, stopOnSignal } from '../loadtest/commands/ending.ts';
import { livePorts } from '../scripts/stack/usual-ports.ts';
import { loadEnvFile } from '../services/inventory/env-file.ts';
import { wholeNumber } from '../services/inventory/setting-kinds.ts';
import { readSettingsOrExit } from '../services/inventory/settings.ts';
import type { Order } from './contract.ts';
import { readQuestions } from './questions.ts';
import { stageChoices } from './server/choices.ts';
import { makePage, savedName, savedPage } from './server/page-files.ts';
import { createPlayer } from './server/player.ts';
import { createPresenterApp } from './server/presenter.ts';
import { createPuzzle } from './server/puzzle.ts';
import { createRecorder } from './server/recorder.ts';
import { createRoom } from './server/room.ts';
import { codeOf, type Shared, shareRoom } from './server/share.ts';
import { createStream } from './server/stream.ts';
import { watchWorkshop } from './server/watched-workshop.ts';

loadEnvFile();
const command = newCommand(
  'npm run live',
  'Serves a page on this machine that shows the stack, plays its drills, and breaks it.',
)
  .option('--lease <ms>', 'the length of a lease, in milliseconds', leaseLength, 2_000)
  .option('--share', 'let a room follow and vote, on the network of this machine', false)
  .option('--open', 'open the page in the browser', false);
for (const option of runningOptions) command.addOption(option);
const given = command.parse().opts<{ url?: string; lab?: string[]; lease: number; share: boolean; open: boolean }>();
const { lease, share, open } = given;
const running = runningOf(given, command);
const ownPort = () => wholeNumber(0, 65_535, 'a TCP port, or 0 for any that is free');
const { LIVE_PORT, LIVE_SHARE_PORT, LIVE_LANGUAGE, WORKSHOP_STATE } = readSettingsOrExit(
  z.object({
    LIVE_PORT: ownPort().default(livePorts.LIVE_PORT),
    LIVE_SHARE_PORT: ownPort().default(livePorts.LIVE_SHARE_PORT),
    LIVE_LANGUAGE: z
      .string()
      .regex(/^[a-z]{2}$/, 'must be two small letters, such as en')
      .default('en'),
    /** Where the workshop says how it is: tests have their own. */
    WORKSHOP_STATE: z.string().min(1).optional(),
  }),
  process.env,
);

const stopping = new AbortController();
stopOnSignal(stopping, new Error('stopped'));

process.exitCode = await runToEnd('The live page could not be served', serve);
await exitWhenWritten();

/** Serves the page until a signal comes. Resolves with the exit code. */
async function serve(): Promise<number> {
  const page = await makePage({ language: LIVE_LANGUAGE });
  const { files } = page;
  const choices = stageChoices();
  const token = randomBytes(16).toString('base64url');
  const onBug = (error: unknown) => console.error(error);
  const player = createPlayer({
    running,
    leaseMs: lease,
    onChange: changed,
    onStep: (step) => room.stepWaits(step),
  });
  const puzzle = createPuzzle({ onChange: changed });
  const room = createRoom({ questions: readQuestions(), read: player.read, onChange: changed });
  const workshop = watchWorkshop({ ...(WORKSHOP_STATE && { file: WORKSHOP_STATE }), onChange: changed });
  const readAll = () => ({ ...player.read(), puzzle: puzzle.read(), workshop: workshop.read() });
  const stream = createStream({ choices, read: () => ({ ...readAll(), room: room.forPresenter() }) });
  const recorder = createRecorder({ choices, read: player.read });
  let shared: Shared | undefined;

  function changed() {
    recorder.look();
    stream.changed();
    shared?.changed();
  }

  async function order(order: Order) {
    await player.order(order);
    // Not before it is taken: an order that is refused leaves the run before to be saved.
    if (order.do === 'play' || order.do === 'free') recorder.begin();
    // Nobody votes on what is seen already.
    if (['play', 'next', 'run-on'].includes(order.do)) room.drillBegins();
  }

  const app = createPresenterApp({
    files,
    token,
    stream,
    order,
    orderRoom: room.order,
    orderPuzzle: puzzle.order,
    savedPage() {
      const run = recorder.run();
      return run && { name: savedName(run), text: savedPage(page, run) };
    },
    roomCode: () => shared && codeOf(shared.addresses[0] ?? ''),
    onBug,
  });
  const server = createServer(app).listen(LIVE_PORT, '127.0.0.1');
  try {
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw new Error(`port ${LIVE_PORT} is taken by another program. Choose another one with LIVE_PORT.`);
    });
    if (share) {
      shared = await shareRoom({ files, choices, read: readAll, room, port: LIVE_SHARE_PORT, onBug });
    }
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/#${token}`;
    console.log(`The live page: ${address}`);
    if (shared) console.log(`The room follows at ${shared.addresses.join(' or ')}`);
    console.log('Stop: Ctrl-C');
    if (open) openInBrowser(address);
    await player.open();
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
    console.log('Stopping.');
    return 0;
  } finally {
    await shared?.close();
    await player.close();
    await puzzle.close();
    workshop.close();
    stream.end();
    server.close();
    server.closeAllConnections();
  }
}

/** Where there is no browser nothing happens: the address is printed. */
function openInBrowser(address: string) {
  const opener = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  spawn(opener, [address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
