import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { projectDir } from '../../../scripts/stack/parts.ts';
import { freePort } from '../../../scripts/stack/ports.ts';
import { readText } from '../../lesson/project-files.ts';
import { makeBarePath, ownCommands } from '../../loadtest/commands/command-under-test.ts';

const start = ownCommands('scripts/up.ts');
const run = promisify(execFile);

/** The ports of `npm run up`, as the chapters write them. */
const defaults = {
  NGINX_PORT: '8080',
  REDIS_PORT: '6390',
  NODE_1_PORT: '7777',
  NODE_1_LAB_PORT: '7778',
  NODE_2_PORT: '8888',
  NODE_2_LAB_PORT: '8889',
};
type PortName = keyof typeof defaults;

async function ownPorts() {
  const names = Object.keys(defaults) as PortName[];
  const free = await Promise.all(names.map(async (name) => [name, String(await freePort())]));
  return Object.fromEntries(free) as Record<PortName, string>;
}

/** The lines of a chapter, at other ports. */
function atPorts(lines: string, ports: Record<PortName, string>): string {
  const names = Object.keys(defaults) as PortName[];
  return names.reduce((text, name) => text.replaceAll(new RegExp(`\\b${defaults[name]}\\b`, 'g'), ports[name]), lines);
}

const blocksOf = (chapter: string, kind: string) =>
  [...readText(chapter).matchAll(new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\`$`, 'gms'))].map(([, text = '']) => text);

/** What is typed by hand in a chapter: from where it reads the functions of the lab. */
function typedIn(chapter: string): string {
  const blocks = blocksOf(chapter, 'sh');
  const from = blocks.findIndex((text) => text.startsWith('. scripts/lab.sh'));
  return blocks.slice(from).join('');
}

/** Chapters, with what `npm run up` is given, and how the excerpts begin that show the answers. */
const passages: [string, NodeJS.ProcessEnv, RegExp[]][] = [
  ['docs/stages/1-in-process.md', { LOCK_VERSION: '1' }, [/^\{"outcome":"sold"/]],
  ['docs/stages/5-owner-check.md', { LOCK_VERSION: '5', LEASE_MS: '4000' }, [/^\{"title"/, /^OK\nA\n/]],
  ['docs/stages/6-lua-release.md', { LOCK_VERSION: '6' }, [/^OK\nOK\n0\n/, /^\{"title"/]],
];

test.each(passages)('%s: what is typed by hand answers what the chapter shows', async (chapter, env, excerpts) => {
  const ports = await ownPorts();
  const up = start('scripts/up.ts', [], { ...env, ...ports });
  await up.prints(/Stop: +Ctrl-C/);
  const shown = excerpts.flatMap((begins) => {
    const [excerpt, ...others] = blocksOf(chapter, 'text').filter((text) => begins.test(text));
    expect(others).toEqual([]);
    return (excerpt ?? '').trimEnd().split('\n');
  });

  const { stdout } = await run('bash', ['-c', atPorts(typedIn(chapter), ports)], {
    cwd: projectDir,
    env: { ...process.env, ...ports },
  });

  // The chapters leave out the echo of what is scripted, and how long a command took is printed apart.
  const left = stdout
    .trimEnd()
    .split('\n')
    .filter((line) => !/^\{"(pauseMs|nestedCall)"/.test(line));
  for (const line of shown.filter((each) => !each.startsWith('real '))) {
    const place = left.findIndex((answer) => isShownAs(line, answer));
    expect(place, `${line} is not among:\n${left.join('\n')}`).not.toBe(-1);
    left.splice(place, 1);
  }
  expect(left).toEqual([]);
});

/** Long answers are cut at …. Of an answer nothing else may differ. */
function isShownAs(line: string, answer: string): boolean {
  const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(answer);
}

test('lab.sh: in a plain shell, with redis-cli and without, each function does what its comment says', async () => {
  const ports = await ownPorts();
  const up = start('scripts/up.ts', [], { ...ports, LOCK_VERSION: '8' });
  await up.prints(/Stop: +Ctrl-C/);
  const bare = makeBarePath();
  const lines = `. scripts/lab.sh
    set_stock 100 > /dev/null; sale > /dev/null; stock
    next_sale ${ports.NODE_1_LAB_PORT} '{"pauseMs":1}'
    test "$(pid ${ports.NODE_1_LAB_PORT})" -gt 1 && echo a process
    heap ${ports.NODE_1_PORT} | cut -d' ' -f1
    redis set demo A px 60000 nx; redis set demo B nx; redis get demo; redis hset hash a 1 b 2; redis hgetall hash
    redis eval 'return {1, {2}}' 0; redis del demo hash; redis no-such-command | cut -d' ' -f1-3
    third_node LOCK_VERSION=8 > /dev/null 2>&1; test "$(pid 10000)" -gt 1 && echo node-3; kill "$(pid 10000)"`;

  const withCli = await run('sh', ['-c', lines], { cwd: projectDir, env: { ...process.env, ...ports } });
  // What is on the bare path, and what lab.sh asks for beside it.
  const tools = await run('sh', ['-c', 'for tool in curl grep cut sleep env cat; do command -v $tool; done']);
  for (const tool of tools.stdout.trim().split('\n')) await run('ln', ['-sf', tool, bare.path.split(':')[0] as string]);
  const without = await run('/bin/sh', ['-c', lines], {
    cwd: projectDir,
    env: { ...process.env, ...ports, PATH: bare.path },
  }).finally(bare.remove);

  expect(withCli.stdout.replaceAll(/\n\n(?=node-3)/g, '\n')).toBe(`{"sku":"001","remaining":99}
{"pauseMs":1}
a process
nodejs_heap_size_used_bytes
OK

A
2
a
1
b
2
1
2
2
ERR unknown command
node-3
`);
  expect(without.stdout).toBe(withCli.stdout.replaceAll(/\n\n(?=node-3)/g, '\n'));
});
