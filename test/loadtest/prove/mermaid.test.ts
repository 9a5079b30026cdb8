import { expect, test } from 'vitest';
import { escapeMermaid, mermaidOf } from '../../../loadtest/prove/mermaid.ts';
import { failoverSteps, sampleCell } from './sample-proof.ts';

test('mermaid: a failover, whole; no sign of a text ends what it stands in', () => {
  expect(mermaidOf(sampleCell({ counterexample: failoverSteps })).split('\n  ')).toEqual([
    'sequenceDiagram',
    'participant A',
    'participant B',
    'participant V as Valkey',
    'Note over A: comes',
    'A->>V: SET lock A:1 PX 900 NX',
    'V-->>A: "OK"',
    'Note over A: is inside',
    'Note over V: the server fails, and its replica has not heard of the last command',
    'Note over B: comes',
    'B->>V: SET lock B:1 PX 900 NX',
    'V-->>B: "OK"',
    'Note over B: is inside',
  ]);
  expect(escapeMermaid('a;b <c> %%{init}%% one\ntwo')).toBe('a#59;b #60;c#62; #37;#37;{init}#37;#37; one<br/>two');
});
