// Fencing tokens grow from hold to hold, also when every key that has an end is over meanwhile.

import { OUTSIDE } from '../../../virtual/server.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds } from '../outcome.ts';
import type { Holder, Staging } from '../staging.ts';

export async function tokens({ stage }: LockUnderTest) {
  return stage(async (staging) => {
    const [p, q] = [staging.process(), staging.process()];
    const first = await tokenOf(p.holder('A'));
    endAllLeases(staging);
    const second = await tokenOf(q.holder('B'));
    if (first === undefined || second === undefined) throw new Fault('A holder is inside without a fencing token.');
    if (second > first) {
      staging.flush('ALL');
      const third = await tokenOf(p.holder('C'));
      const again = third !== undefined && third > second ? 'goes on' : 'begins again, as the stock beside it does';
      return holds(`After a quiet day the next fencing token is greater. When Redis starts empty it ${again}.`);
    }
    throw new Fault(`After a quiet day the token of B is ${second}, and that of A before it was ${first}.`);
  });

  async function tokenOf(holder: Holder) {
    await holder.enters();
    const token = holder.token();
    await holder.leaves();
    return token;
  }
}

/** What a quiet day does: every key that has an end is gone. */
function endAllLeases({ servers, say }: Staging) {
  for (const server of servers) {
    const ask = (...command: string[]) => server.execute(OUTSIDE, command).reply;
    for (const name of ask('KEYS', '*') as string[]) if (Number(ask('PTTL', name)) >= 0) ask('DEL', name);
  }
  say('a day passes: every key that has an end is gone');
}
