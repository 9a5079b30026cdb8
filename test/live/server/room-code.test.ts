import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createPresenterApp, type PresenterParts } from '../../../live/server/presenter.ts';
import { codeOf } from '../../../live/server/share.ts';
import { ask, problemOf } from './listener-under-test.ts';

/** Asks the presenter's listener for the code of the room. */
async function askFor(path: string, roomCode?: () => string | undefined) {
  const parts: PresenterParts = {
    files: {},
    token: 'right',
    stream: { follow: () => false },
    order: async () => {},
    ...(roomCode && { roomCode }),
    onBug(error) {
      throw error;
    },
  };
  const server = createServer(createPresenterApp(parts)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await ask((server.address() as AddressInfo).port, path);
  } finally {
    server.close();
  }
}

test('the code of the room is drawn for the presenter alone', async () => {
  const code = () => codeOf('http://192.0.2.2:7791/#rda-36v-xdu');

  const drawn = await askFor('/room.svg?token=right', code);
  expect([drawn.status, drawn.headers['content-type']]).toEqual([200, 'image/svg+xml; charset=utf-8']);
  expect(drawn.text).toMatch(/^<svg.*<\/svg>\n?$/s);
  expect(problemOf(await askFor('/room.svg?token=wrong', code))).toEqual([403, 'TOKEN_REFUSED']);
  expect(problemOf(await askFor('/room.svg', code))).toEqual([403, 'TOKEN_REFUSED']);
});
