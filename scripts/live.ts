// npm run live: a page to project in a workshop: it shows the running stack, and attendees inject faults.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { loadEnvFile } from '../services/inventory/settings/env-file.ts';
import { wholeNumber } from '../services/inventory/settings/setting-kinds.ts';
import { readSettingsOrExit } from '../services/inventory/settings/settings.ts';
import { livePorts } from '../stack/usual-ports.ts';
import { packFollower, packPage } from '../workshop/page/pack.ts';
import type { Command, PresenterParts, RoomCommand } from '../workshop/page/protocol.ts';
import { createPlayer } from '../workshop/server/player.ts';
import { createPresenterApp } from '../workshop/server/presenter.ts';
import { readQuestions } from '../workshop/server/questions.ts';
import { createRoom } from '../workshop/server/room.ts';
import { playChoices } from '../workshop/server/scenarios.ts';
import { codeOf, type Shared, shareRoom } from '../workshop/server/share.ts';
import { createStream } from '../workshop/server/stream.ts';
import { type GivenWith, newCommand, runningOf } from './command-line/command.ts';
import { endWith, stopOnSignal } from './command-line/ending.ts';

loadEnvFile();
const command = newCommand('live', ['lease', 'url', 'lab'], {
  lease: { help: 'lease length, in milliseconds', usual: 2_000 },
})
  .option('--share', 'let attendees follow and vote, over the local network', false)
  .option('--open', 'open the page in the browser', false);
const given = command.parse().opts<GivenWith<'lease'> & { share: boolean; open: boolean }>();
const { lease, share, open } = given;
const running = runningOf(given, command);
const ownPort = () => wholeNumber(0, 65_535, 'a TCP port, or 0 for any free port');
const { LIVE_PORT, LIVE_SHARE_PORT } = readSettingsOrExit(
  z.object({
    LIVE_PORT: ownPort().default(livePorts.LIVE_PORT),
    LIVE_SHARE_PORT: ownPort().default(livePorts.LIVE_SHARE_PORT),
  }),
  process.env,
);

/** The shortest interval between two updates to the page, in milliseconds. */
const EVERY_MS = 250;
/** A presenter's windows, and connections that a browser has not closed yet. */
const MOST_WINDOWS = 20;

const stopping = stopOnSignal(new Error('stopped'));

await endWith('The live page could not be served', serve);

/** Serves the page until a signal arrives. Resolves with the exit code. */
async function serve(): Promise<number> {
  const page = await packPage({ isServed: true });
  const questions = readQuestions();
  const choices = playChoices(questions);
  const token = randomBytes(16).toString('base64url');
  const onBug = (error: unknown) => console.error(error);
  const player = createPlayer({ running, leaseMs: lease, onChange: changed });
  const lastRun = () => {
    const { run } = player.read();
    return run?.verdict ? run.number : null;
  };
  const room = createRoom({ questions, lastRun, onChange: changed });
  let shared: Shared | undefined;
  let code: PresenterParts['share'] = null;
  const read = (): PresenterParts => ({ ...player.read(), room: room.forPresenter(), share: code, choices });
  const stream = createStream({ read, everyMs: EVERY_MS, mostFollowers: MOST_WINDOWS });

  function changed() {
    stream.changed();
    shared?.changed();
  }

  async function command(command: Command) {
    if (isOfRoom(command)) return void room.command(command);
    await player.command(command);
    // Nobody votes on what is seen already.
    if (command.do === 'play') room.playBegins();
  }

  const app = createPresenterApp({ page, token, stream, command, onBug });
  const server = createServer(app).listen(LIVE_PORT, '127.0.0.1');
  try {
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw new Error(`port ${LIVE_PORT} is taken by another program. Choose another one with LIVE_PORT.`);
    });
    if (share) {
      const readRun = () => player.read().run;
      shared = await shareRoom({ files: await packFollower(), readRun, room, port: LIVE_SHARE_PORT, onBug });
      const [address = ''] = shared.addresses;
      code = { address, code: codeOf(address) };
    }
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/#${token}`;
    console.log(`The live page: ${address}`);
    // Who has started it with a channel is told so, too.
    process.send?.({ address });
    if (shared) console.log(`Attendees follow at ${shared.addresses.join(' or ')}`);
    console.log('Stop: Ctrl-C');
    if (open) openInBrowser(address);
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
    console.log('Stopping.');
    return 0;
  } finally {
    await shared?.close();
    await player.close();
    stream.end();
    server.close();
    server.closeAllConnections();
  }
}

function isOfRoom(command: Command): command is RoomCommand {
  return ['ask', 'close-votes', 'reveal', 'forget'].includes(command.do);
}

/** Without a browser this does nothing: the address is printed anyway. */
function openInBrowser(address: string) {
  const opener = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  spawn(opener, [address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
