// Shares the page with a room: a listener on the network, on which one can look and vote. There is nothing else.

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

/** Who may vote at the same time. */
const MOST_FOLLOWERS = 250;
/** How often a phone is sent changes at most, in milliseconds. A room shares one radio. */
const EVERY_MS = 300;
/** Streams, and what else a browser opens for a moment. Whose connection is one too many is hung up on. */
const MOST_CONNECTIONS = 2 * MOST_FOLLOWERS + 100;
/** A request is small, and comes at once: nobody keeps a connection by sending none. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8_192,
};

export interface ShareOptions {
  files: Record<string, PageFile>;
  /** What is played, or was played last. */
  readRun: () => RunView | null;
  room: Room;
  /** 0 takes any that is free. */
  port: number;
  /** How this machine is reached by the room, the likeliest address first. */
  addresses?: string[];
  onBug: (error: unknown) => void;
}

export type Shared = Awaited<ReturnType<typeof shareRoom>>;

/** Resolves when the room can follow. Rejects when this machine is in no network, or its port is taken. */
export async function shareRoom(options: ShareOptions) {
  const { files, readRun, room, port, onBug, addresses = addressesToShare() } = options;
  const [address] = addresses;
  if (address === undefined)
    throw new Error('this machine is in no network that a room could share. Leave out --share.');
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
      hostRefused: 'Open the page by the address that stands on the wall.',
      tokenRefused:
        'This is not the address of the room that is open now. Scan the code on the wall, or type its address.',
    },
    follow(request, response) {
      if (stream.isFull()) throw new Refusal(503, 'TOO_MANY_FOLLOW', 'The room is full.');
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
    throw new Error(`port ${port}, on which the room would follow, is taken by another program.`);
  });
  const pageAt = (host: string) => `http://${host}:${(server.address() as AddressInfo).port}/#${token}`;

  return {
    token,
    /** Where the room follows, the likeliest first. */
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

/** How many events a phone is sent at most: of a run that has more it is told the verdict. */
const MOST_EVENTS = 3_000;
const few = (events: RunView['events']) => (events.length > MOST_EVENTS ? [] : events);

/** The id that a follower was given: in a header of its vote, or in the address of its stream. */
function shownId({ method, query, headers }: Request): string | undefined {
  const shown = method === 'GET' ? query['id'] : headers['follower-id'];
  return typeof shown === 'string' ? shown : undefined;
}

/** No 0 and o, no 1, i and l: read from the wall, one is taken for another. */
const LETTERS = '23456789abcdefghjkmnpqrstuvwxyz';
const letter = () => LETTERS[randomInt(LETTERS.length)] ?? '';

/**
 * A new token, in groups that can be read aloud: `k3v-92m-fxp-w7t`. It is hopeless to guess: there are 31¹² = 7.9 · 10¹⁷ of them, so of 20,000
 * guesses a second for three hours one is right once in three billion workshops.
 */
const makeToken = () => Array.from({ length: 4 }, () => letter() + letter() + letter()).join('-');

/** A phone writes the first letter large, and hands leave out the hyphens. */
export const lettersOf = (token: string) => token.toLowerCase().replace(/[^a-z0-9]/g, '');

/** An address as a code for cameras: an SVG. */
export const codeOf = (address: string) => encodeQR(address, 'svg');
