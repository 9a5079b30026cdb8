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
  const told = [
    { at: 901, step: 'wrote' as const, sale: 1, stock: 9 },
    { at: 901, step: 'left' as const, sale: 1 },
  ];
  const letGo = { at: 901, process: 'A', kind: 'let go' as const, command: 'DEL lock, held up until now,', reply: '1' };
  const counterexample = [
    { at: 0, process: 'A', kind: 'hold up' as const, command: 'has a command held up: DEL lock', told: [] },
    { at: 901, process: 'the clock', kind: 'clock' as const, command: 'goes on to 901 ms', told: [] },
    { ...letGo, sent, input, told },
  ];

  expect(mermaidOf(sampleCell({ counterexample })).split('\n  ').slice(4)).toEqual([
    'Note over A: has a command held up: DEL lock',
    'Note over A,V: 901 ms',
    'A->>V: DEL lock, held up until now',
    'V-->>A: 1',
    'Note over A: has written stock 9, leaves',
  ]);
});

test('mermaid: masters are participants, and a reply that is read later comes from its master', () => {
  const ofA = { at: 0, process: 'A', told: [] };
  const asked = (server: number, reply: string) => ({
    ...{ ...ofA, kind: 'command' as const, command: `DEL lock at master ${server}`, reply, sent: { ...sent, server } },
  });
  const read = (reply: string) => ({ ...ofA, kind: 'reply' as const, command: `reads the reply ${reply}`, input });
  const frozen = { ...ofA, process: 'the server', kind: 'freeze' as const, command: 'of master 1 stands still' };
  const counterexample = [asked(1, '1'), asked(2, '0'), frozen, read('0'), asked(2, '1'), read('1')];

  expect(
    mermaidOf(sampleCell({ masters: 2, counterexample }))
      .split('\n  ')
      .slice(3),
  ).toEqual([
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

test('mermaid: no sign of a text ends what it stands in', () => {
  expect(['a;b', '#1', '<script>', '%%{init}%%', 'one\r\ntwo', '"OK"'].map(escapeMermaid)).toEqual([
    'a#59;b',
    '#35;1',
    '#60;script#62;',
    '#37;#37;{init}#37;#37;',
    'one<br/>two',
    '"OK"',
  ]);
});
