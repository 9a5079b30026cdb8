import type { Mutation } from '../mutation.ts';

/** A bug in a lock that one cell of the search must find. */
const inCell = (stage: string, scope: string) => ({
  tests: ['test/prove/matrix.test.ts'],
  title: `matrix ${stage}, ${scope}:`,
});

/** What the exhaustive search finds: bugs of locks, each in the scope that is for it, and bugs of the search itself. */
export const prove: Mutation[] = [
  {
    name: 'proved-wake-up-lost',
    file: 'locks/drivers/channels.ts',
    find: '      channel.isSubscribed = true;\n      wakeAll(channel);',
    replace: '      channel.isSubscribed = true;',
    why: 'A release between the failed try and the subscription is not heard.',
    ...inCell('blocking', 'lost-wakeup'),
  },
  {
    name: 'endless-timer-not-seen',
    file: 'prove/properties.ts',
    find: 'at < endedAt + LINGERING_MS',
    replace: 'at >= endedAt',
    why: 'A timer that nobody ends is taken for a search that was cut.',
    tests: ['test/prove/at-once.test.ts'],
    title: 'it fires for three leases after all is over',
  },
  {
    name: 'search-delivers-out-of-order',
    file: 'prove/state.ts',
    find: 'return isFirst;',
    replace: 'return !isAway(id);',
    why: 'A later command of a connection overtakes an earlier one.',
    tests: ['test/prove/moves.test.ts'],
    title: 'a connection is first in, first out',
  },
  {
    name: 'search-leases-a-millisecond-longer',
    file: 'prove/server.ts',
    find: 'endsAt + CLOCK_STARTS_AT : 0',
    replace: 'endsAt + CLOCK_STARTS_AT + 1 : 0',
    why: 'A state is put back with leases that end a millisecond late.',
    tests: ['test/prove/server.test.ts'],
    title: 'server: the end of a lease',
  },
  {
    name: 'search-clock-does-not-wait',
    file: 'prove/moves.ts',
    find: '      if (own.length > 0) isQuiet = false;\n',
    replace: '',
    why: 'Time goes on while a command is on its way: a lease ends that nobody was slow in.',
    ...inCell('8-auto-renew', 'plain'),
  },
  {
    name: 'search-looks-at-a-state-once',
    file: 'prove/search.ts',
    find: 'if (!isNew && touches === undefined) continue;',
    replace: 'if (!isNew) continue;',
    why: 'A command that changes the lock of a holder is passed over on every way to a state but the first.',
    tests: ['test/prove/search.test.ts'],
    title: 'replies as steps of their own: true: it is found',
  },
  {
    name: 'search-holds-though-it-was-cut',
    file: 'prove/search.ts',
    find: 'if (cut > 0)',
    replace: 'if (cut < 0)',
    why: 'It says that a lock holds, and has not seen every order.',
    tests: ['test/prove/search.test.ts'],
    title: 'time beyond the horizon',
  },
  {
    name: 'replay-believes-every-reply',
    file: 'prove/replay.ts',
    find: 'if (nameOfReply(answer) !== reply)',
    replace: 'if (reply === undefined)',
    why: 'A counterexample whose replies are made up is taken for one.',
    tests: ['test/prove/replay.test.ts'],
    title: 'a reply that is another one',
  },
];
