// Shares the page with attendees: a listener on the network for following and voting, nothing else.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request } from 'express';
import encodeQR from 'qr';
import type { PageFile } from '../page/pack.ts';
import { type FollowerParts, type RunView, voteSchema } from '../page/protocol.ts';
import { createListener, policyOf, tokenGate } from './listener.ts';
import { addressesToShare, ownNames } from './own-addresses.ts';
import { Refusal } from './refusal.ts';
import type { Room } from './room.ts';
import { createStream } from './stream.ts';

/** The most simultaneous voters. */
const MOST_FOLLOWERS = 250;
/** The shortest interval between two updates to a phone, in milliseconds. A room shares one Wi-Fi. */
const EVERY_MS = 300;
/** The most connections: streams, and short ones that a browser opens. Any more are closed. */
const MOST_CONNECTIONS = 2 * MOST_FOLLOWERS + 100;
/** A request is small and arrives at once: idle connections are closed. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8_192,
};

export interface ShareOptions {
  files: Record<string, PageFile>;
  /** The current or last run. */
  readRun: () => RunView | null;
  room: Room;
  /** 0 means any free port. */
  port: number;
  /** The addresses at which attendees reach this machine, likeliest first. */
  addresses?: string[];
  onBug: (error: unknown) => void;
}

export type Shared = Awaited<ReturnType<typeof shareRoom>>;

/** Resolves when attendees can follow. Rejects if this machine has no network, or the port is taken. */
export async function shareRoom(options: ShareOptions) {
  const { files, readRun, room, port, onBug, addresses = addressesToShare() } = options;
  const [address] = addresses;
  if (address === undefined)
    throw new Error('this machine has no network that attendees could use. Leave --share out.');
  const token = makeToken();
  const read = (): Omit<FollowerParts, 'follower'> => {
    const run = readRun();
    // Whoever votes has not seen it yet. It is sent once, when it is over: a room shares one radio.
    const followed = room.forFollowers();
    const isOver = run?.verdict && !room.isOpen() && run.number !== followed.question?.runBefore;
    return { room: followed, run: isOver ? { ...run, events: few(run.events) } : null };
  };
  const stream = createStream({ read, everyMs: EVERY_MS, mostFollowers: MOST_FOLLOWERS });
  const app = createListener({
    files,
    policy: policyOf("'self'"),
    names: ownNames,
    isShared: true,
    isToken: tokenGate(token, lettersOf),
    says: {
      hostRefused: 'Open the page with the address on the screen.',
      tokenRefused: 'This address is out of date. Scan the code on the screen, or type its address.',
    },
    follow(request, response) {
      if (stream.isFull()) throw new Refusal(503, 'TOO_MANY_FOLLOW', 'There are too many followers.');
      const id = room.join(request.socket.remoteAddress ?? '', shownId(request));
      response.once('close', () => room.leave(id));
      stream.follow(response, { follower: id });
    },
    commands: { path: '/vote', schema: voteSchema, limit: '200b' },
    carryOut: (vote, request) => room.vote(shownId(request) ?? '', vote),
    onBug,
  });
  const server = createServer(limits, app);
  server.maxConnections = MOST_CONNECTIONS;
  server.listen(port, '0.0.0.0');
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    stream.end();
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(`port ${port}, which attendees would use, is taken by another program.`);
  });
  const pageAt = (host: string) => `http://${host}:${(server.address() as AddressInfo).port}/#${token}`;

  return {
    token,
    /** The attendees' addresses, likeliest first. */
    addresses: addresses.map(pageAt),
    changed: stream.changed,
    async close() {
      stream.end();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The most events to send to a phone: of a longer run it gets only the verdict. */
const MOST_EVENTS = 3_000;
const few = (events: RunView['events']) => (events.length > MOST_EVENTS ? [] : events);

/** A follower's id: in a header of its vote, or in the address of its stream. */
function shownId({ method, query, headers }: Request): string | undefined {
  const shown = method === 'GET' ? query['id'] : headers['follower-id'];
  return typeof shown === 'string' ? shown : undefined;
}

/** No 0 and o, no 1, i and l: they are easily confused on a screen. */
const LETTERS = '23456789abcdefghjkmnpqrstuvwxyz';
const letter = () => LETTERS[randomInt(LETTERS.length)] ?? '';

/**
 * A new token, in groups that can be read aloud: `k3v-92m-fxp-w7t`. It is hopeless to guess: there are 31¹² = 7.9 · 10¹⁷ of them, so of 20,000
 * guesses a second for three hours one is right once in three billion workshops.
 */
const makeToken = () => Array.from({ length: 4 }, () => letter() + letter() + letter()).join('-');

/** Phones capitalize the first letter, and people leave out the hyphens. */
export const lettersOf = (token: string) => token.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The QR code of an address, as SVG. */
export const codeOf = (address: string) => encodeQR(address, 'svg');
