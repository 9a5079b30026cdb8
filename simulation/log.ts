// The log of a playing: what happened in it as text, a line for each event that people read.

import type { PlayEvent } from './events.ts';

/** The lines, each with its milliseconds. `sentenceOf`: how a sentence reads. */
export const logOf = <Told>(events: PlayEvent<Told>[], sentenceOf: (sentence: Told) => string): string[] =>
  events.flatMap((event) => {
    const text = textOf(event, sentenceOf);
    return text === undefined ? [] : [`${event.at.toFixed(2).padStart(9)} ${text}`];
  });

const ofServers = {
  stopped: 'a server is sent SIGSTOP',
  resumed: 'a server is sent SIGCONT',
  killed: 'a server is killed',
  'started again': 'a server is started again',
};
const ofNodes = {
  stopped: 'is stopped',
  resumed: 'goes on',
  killed: 'is killed',
  'started again': 'is started again',
  blocked: 'blocks its event loop for',
  'standing still': 'stands still for',
};

/** Undefined for what the log leaves out, as other events say it. */
function textOf<Told>(event: PlayEvent<Told>, sentenceOf: (sentence: Told) => string): string | undefined {
  switch (event.kind) {
    case 'sentence':
      return `# ${sentenceOf(event.sentence)}`;
    case 'held':
      return `${event.node} ${event.verb} is held on its way`;
    case 'let go':
      return `${event.node} ${event.verb} is let go`;
    case 'done': {
      const master = event.server > 0 ? ` at master ${event.server}` : '';
      return `${event.node} ${event.verb}${master} → ${JSON.stringify(event.returned)}`;
    }
    case 'node':
      return `${event.node} ${ofNodes[event.is]}${'ms' in event && event.ms !== undefined ? ` ${event.ms} ms` : ''}`;
    case 'clock':
      return `the clock of ${event.node} runs ${event.rate} times as fast`;
    case 'server':
      return ofServers[event.is];
    case 'harness':
      return `the harness stands still for ${event.ms} ms`;
    default:
      return undefined;
  }
}
