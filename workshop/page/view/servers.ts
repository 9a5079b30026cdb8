// The activity on the real servers, in words.

import { type Both, inLanguage } from '../../../loadtest/narration/language.ts';
import type { Play, StartedPart } from '../protocol.ts';
import { say, type Text } from './texts.ts';

const BETWEEN: Both = [', ', '、'];
/** Proper names are the same in both languages. */
const names: Record<StartedPart, string | { text: Text }> = {
  redis: 'Redis',
  replica: { text: 'replica' },
  masters: { text: 'masters' },
  mariadb: 'MariaDB',
  mysql: 'MySQL',
  zookeeper: 'ZooKeeper',
  nginx: 'nginx',
  nodes: { text: 'twoNodes' },
};

/** The current activity, with the servers that are being started, if any. */
export function doneNow({ is, starts }: Play): string {
  if (is === 'free') return say('freePlay');
  if (is !== 'starting') return say(is);
  const parts = starts.map((part) => {
    const name = names[part];
    return typeof name === 'string' ? name : say(name.text);
  });
  return parts.length === 0 ? say('connecting') : say('starting', { parts: parts.join(inLanguage(BETWEEN)) });
}
