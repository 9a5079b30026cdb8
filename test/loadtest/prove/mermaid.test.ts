import { expect, test } from 'vitest';
import { escapeMermaid, mermaidOf } from '../../../loadtest/prove/mermaid.ts';
import { failoverSteps, sampleCell } from './sample-proof.ts';

test('mermaid: a failover, whole', () => {
  expect(mermaidOf(sampleCell({ counterexample: failoverSteps }))).toBe(
    `sequenceDiagram
  participant A
  participant B
  participant V as Valkey
  Note over A: comes
  A->>V: SET lock A:1 PX 900 NX
  V-->>A: "OK"
  Note over A: is inside
  Note over V: the server fails, and its replica has not heard of the last command
  Note over B: comes
  B->>V: SET lock B:1 PX 900 NX
  V-->>B: "OK"
  Note over B: is inside`,
  );
});

const sent = { server: 0, line: 'commands' as const, command: ['DEL', 'lock'], hasChanged: true };
const input = { at: 901, chance: 0.1, type: 'reply', id: 5, reply: 1 };

test('mermaid: a command that is held up, and the clock, over all', () => {
  const text = mermaidOf(
    sampleCell({
      counterexample: [
        { at: 0, process: 'A', kind: 'hold up', command: 'has a command held up: DEL lock', told: [] },
        { at: 901, process: 'the clock', kind: 'clock', command: 'goes on to 901 ms', told: [] },
        {
          at: 901,
          process: 'A',
          kind: 'let go',
          command: 'DEL lock, held up until now,',
          reply: '1',
          sent,
          input,
          told: [
            { at: 901, step: 'wrote', sale: 1, stock: 9 },
            { at: 901, step: 'left', sale: 1 },
          ],
        },
      ],
    }),
  );

  expect(text.split('\n  ').slice(4)).toEqual([
    'Note over A: has a command held up: DEL lock',
    'Note over A,V: 901 ms',
    'A->>V: DEL lock, held up until now',
    'V-->>A: 1',
    'Note over A: has written stock 9, leaves',
  ]);
});

test('mermaid: masters are participants, and a reply that is read later comes from its master', () => {
  const asked = (server: number, reply: string) => ({
    at: 0,
    process: 'A',
    kind: 'command' as const,
    command: `DEL lock at master ${server}`,
    reply,
    sent: { ...sent, server },
    told: [],
  });
  const read = (reply: string) => ({
    at: 0,
    process: 'A',
    kind: 'reply' as const,
    command: `reads the reply ${reply}`,
    input,
    told: [],
  });
  const text = mermaidOf(
    sampleCell({
      masters: 2,
      counterexample: [
        asked(1, '1'),
        asked(2, '0'),
        { at: 0, process: 'the server', kind: 'freeze', command: 'of master 1 stands still', told: [] },
        read('0'),
        asked(2, '1'),
        read('1'),
      ],
    }),
  );

  expect(text.split('\n  ').slice(3)).toEqual([
    'participant V as Valkey (stock)',
    'participant V1 as Valkey 1',
    'participant V2 as Valkey 2',
    'A->>V1: DEL lock',
    'A->>V2: DEL lock',
    'Note over V1: the server of master 1 stands still',
    'V2-->>A: 0',
    'A->>V2: DEL lock',
    // Two masters have answered so: nobody knows which of the two it is.
    'Note over A: reads the reply 1',
  ]);
});

test.each([
  ['a;b', 'a#59;b'],
  ['#1', '#35;1'],
  ['<script>', '#60;script#62;'],
  ['%%{init}%%', '#37;#37;{init}#37;#37;'],
  ['one\r\ntwo', 'one<br/>two'],
  ['"OK"', '"OK"'],
])('mermaid: %s stands as %s', (text, escaped) => {
  expect(escapeMermaid(text)).toBe(escaped);
});
