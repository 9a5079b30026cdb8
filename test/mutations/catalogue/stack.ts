import type { Mutation } from '../mutation.ts';

/** What stands around the nodes: nginx, the link, the processes of the stack. */
export const stack: Mutation[] = [
  {
    name: 'sale-sent-to-both-nodes',
    file: 'nginx/nginx.conf.template',
    find: 'proxy_next_upstream off;',
    replace: 'proxy_next_upstream error timeout non_idempotent;',
    why: 'A sale whose node fails is made a second time on the other one.',
    tests: ['test/nginx/nginx.test.ts'],
    title: 'failing node: ',
  },
  {
    name: 'held-command-overtaken',
    file: 'scripts/link/connection.ts',
    find: 'if (requests.length === 0 && !request.isHeld) return write(request);',
    replace: 'if (!request.isHeld) return write(request);',
    why: 'What a connection sends later reaches Redis before the command that is held.',
    tests: ['test/scripts/link/holding.test.ts'],
    title: 'a hold in the middle of a pipeline',
  },
  {
    name: 'reaper-not-told',
    file: 'scripts/stack/parts.ts',
    find: 'notifyReaper(`+dir',
    replace: 'notifyReaper(`-dir',
    why: 'A command that is killed leaves its temporary folder behind.',
    tests: ['test/soak/scripts/up.test.ts'],
    title: 'a crash: the reaper leaves nothing behind',
  },
  {
    name: 'look-without-a-claim',
    file: 'scripts/stack/ports.ts',
    find: 'guard.unref();',
    replace: 'guard.close();',
    why: 'Two processes find one block of ports free, and both hand out its ports.',
    tests: ['test/scripts/stack/port-blocks.test.ts'],
  },
  {
    name: 'packages-gone-unnoticed',
    file: 'scripts/stack/bundle.ts',
    find: '  if (packages !== undefined && !existsSync(packages)) return false;\n',
    replace: '',
    why: 'A bundle whose packages were removed is taken as it is, and no node starts.',
    tests: ['test/soak/scripts/stack/bundle.test.ts'],
    title: 'bundle: heavy packages a bundle whose',
  },
];
