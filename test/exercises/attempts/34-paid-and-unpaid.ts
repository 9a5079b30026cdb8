import type { Attempt } from '../attempt.ts';

const book = `  await book((mysql) => mysql.write(KEEP, [\`payment:\${message.key}\`]));\n`;
const acknowledge = '  await redis.xack(STREAM, GROUP, message.id);\n';

export const attempts: Attempt[] = [
  {
    what: 'does both at once',
    from: 'lock',
    replace: [
      [acknowledge, '  const acknowledged = redis.xack(STREAM, GROUP, message.id);\n'],
      [book, `${book}  await acknowledged;\n`],
    ],
    fails: 'killed-at-work',
    reason: '0 payments for one message',
  },
  {
    what: 'acknowledges it whatever has become of the booking',
    from: 'solution',
    replace: [
      [book, `  try {\n${book}  } finally {\n`],
      [acknowledge, `${acknowledge}  }\n`],
    ],
    fails: 'booking-fails',
    reason: '0 payments for one message',
  },
  {
    what: 'works first, and no longer keeps the key',
    from: 'solution',
    replace: [[book, '  await book();\n']],
    fails: 'sent-twice',
    reason: '2 payments for one that was sent twice',
  },
  {
    what: 'acknowledges it only when it was booked now',
    from: 'solution',
    replace: [
      [book, book.replace('  await', '  const isBooked = await')],
      [acknowledge, acknowledge.replace('  await', '  if (isBooked) await')],
    ],
    fails: 'sent-twice',
    reason: 'nobody acknowledges a message of it',
  },
  {
    what: 'does not acknowledge it at all',
    from: 'lock',
    replace: [[acknowledge, '']],
    fails: 'killed-at-work',
    reason: 'nobody acknowledges it',
  },
];
