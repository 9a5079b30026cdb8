// The log of a playing: its events as text, one readable line per event.

import type { PlayEvent } from './events.ts';

/** The lines of the log, each with its milliseconds. `sentenceOf` turns a sentence into text. */
export const logOf = <Told>(events: PlayEvent<Told>[], sentenceOf: (sentence: Told) => string): string[] =>
  events.flatMap((event) => {
    const text = textOf(event, sentenceOf);
    return text === undefined ? [] : [`${event.at.toFixed(2).padStart(9)} ${text}`];
  });

const ofServers = {
  stopped: 'a server gets SIGSTOP',
  resumed: 'a server gets SIGCONT',
  killed: 'a server is killed',
  'started again': 'a server is restarted',
};
const ofNodes = {
  stopped: 'is paused',
  resumed: 'resumes',
  killed: 'is killed',
  'started again': 'is restarted',
  blocked: 'blocks its event loop for',
  'standing still': 'is stalled for',
};

/** Undefined for what the log leaves out, as other events say it. */
function textOf<Told>(event: PlayEvent<Told>, sentenceOf: (sentence: Told) => string): string | undefined {
  switch (event.kind) {
    case 'sentence':
      return `# ${sentenceOf(event.sentence)}`;
    case 'held':
      return `${event.node} ${event.verb} is held on the way`;
    case 'let go':
      return `${event.node} ${event.verb} is passed on`;
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
      return `the harness is stalled for ${event.ms} ms`;
    default:
      return undefined;
  }
}
