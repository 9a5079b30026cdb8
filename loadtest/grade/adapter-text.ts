// Generates the source of an adapter for a package that was tried.

import { type Argument, meaningOf, type Shape } from './package-shapes.ts';

export interface AdapterPlace {
  /** The package, as it is called, with its version. */
  title: string;
  /** The imports of the file: the package, the adapter kit, and node-redis if needed. */
  imports: { library: string; kit: string; nodeRedis: string };
  /** The next command. */
  command: string;
  /** Node knows the export by its name, and not only as a part of what is exported by default. */
  isNamed: boolean;
}

/** How long a library without a single try may wait, in milliseconds. */
const TRY_MS = 40;
const NO_LIMIT = 'NO_LIMIT';
const limits: Record<string, { waits: string; once: string }> = {
  retries: { waits: NO_LIMIT, once: '0' },
  attempts: { waits: NO_LIMIT, once: '1' },
  patience: { waits: NO_LIMIT, once: 'leaseMs' },
};
const isOf = (settings: string[], ...meanings: string[]) =>
  settings.filter((name) => meanings.includes(meaningOf(name) ?? ''));

/** The calls that were found, as a clause: `createLock(redis, { timeout }), then acquire(key) and release()`. */
export function foundOf({ opening, acquire, release, exported, settings }: Shape): string {
  const inWords = (args: Argument[]) =>
    args
      .map((arg) => (arg === 'settings' ? `{ ${settings.join(', ')} }` : arg === 'inside' ? 'a function' : arg))
      .join(', ');
  const named = exported === 'default' ? '(the default export)' : exported;
  const opened = opening && `${opening.how === 'class' ? 'new ' : ''}${named}(${inWords(opening.args)})`;
  const acquired = `${acquire.name ?? (opening ? 'its result' : named)}(${inWords(acquire.args)})`;
  const released = {
    leaving: () => 'until that ends',
    'hold is called': () => 'and a call of its result',
    hold: () => `and ${nameIn(release)}() of its result`,
    lock: () => `and ${nameIn(release)}(${release.by === 'lock' ? release.args.join(', ') : ''})`,
  };
  return [...(opened ? [`${opened}, then`] : []), acquired, released[release.by]()].join(' ');
}

const nameIn = (release: Shape['release']) => ('name' in release ? release.name : '');

/** The assumptions, as sentences. */
export function assumedOf(shape: Shape): string[] {
  const { keepsLease, refusal, waits, settings, errors } = shape;
  const unseen = isOf(settings, 'delay', 'patience');
  return [
    ...(keepsLease ? [] : ['No argument was found that sets the lease.']),
    ...(unseen.length > 0 ? [`The meaning of ${unseen.join(' and ')} was guessed from the name.`] : []),
    ...(errors.length > 0
      ? [`${errors.join(' or ')} means that another holder has the lock, or that the lock was lost.`]
      : []),
    ...(waits ? [] : ['It does not wait long by itself, so the adapter tries again and again.']),
    ...(refusal === 'none: it waits' ? [`No call for a single try was found: it waits ${TRY_MS} ms instead.`] : []),
    'It promises nothing beyond the checks.',
  ];
}

export function adapterText(shape: Shape, { title, imports, command, isNamed }: AdapterPlace): string {
  const { client, refusal, waits, errors } = shape;
  const isTimed = refusal === 'none: it waits';
  const kit = ['adapt', 'cannotBeCancelled', 'oneServer', 'enter', 'tryFor', 'askAgain'];
  const body = [...clientLines(shape), ...excuseLines(shape), ...lockLines(shape)].join('\n');
  const used = kit.filter((name) => new RegExp(`\\b${name}\\(`).test(body));
  const isDefault = shape.exported === 'default' || !isNamed;
  return `// @ts-nocheck: the package may have no types.
// An adapter for ${title}, proposed after the package was tried in the simulation. Correct it if it is wrong, and grade it:
//
// ${command}
//
// Found: ${foundOf(shape)}.
${assumedOf(shape)
  .map((sentence) => `// Assumed: ${sentence}`)
  .join('\n')}
// It may export what else it promises, and what it need not hold: docs/how-to/grade.md.

import ${isDefault ? 'library' : '* as library'} from ${quoted(imports.library)};
${client === 'node-redis' ? `import { createClient } from ${quoted(imports.nodeRedis)};\n` : ''}import { ${used.toSorted().join(', ')} } from ${quoted(imports.kit)};

${body}
`;

  function clientLines({ settings }: Shape): string[] {
    const all = isOf(settings, 'retries', 'attempts', 'patience');
    return [
      ...(all.length > 0 && waits
        ? ['/** Practically for ever, but short enough for a timer. */', `const ${NO_LIMIT} = 2 ** 31 - 1;`]
        : []),
      ...(isTimed
        ? [
            '/** How long a single try may take, in milliseconds: a lock that is granted later is released. */',
            `const TRY_MS = ${TRY_MS};`,
          ]
        : []),
      ...(errors.length > 0 ? [`const refusals = [${errors.map(quoted).join(', ')}];`] : []),
      ...(client === 'node-redis' ? [NODE_REDIS] : []),
      '',
    ];
  }
}

const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`;

const NODE_REDIS = `
/** One client for each process. */
const clients = new Map();

function clientOf(redis) {
  const { host, port } = oneServer(redis).options;
  const url = \`redis://\${host}:\${port}\`;
  const made = clients.get(url) ?? createClient({ url }).on('error', () => {}).connect();
  clients.set(url, made);
  return made;
}`;

function excuseLines({ prefix, tellsLoss, waits, acquire, exported, opening }: Shape): string[] {
  const call = `${acquire.name ?? (opening ? 'the lock' : exported)}()`;
  const excuses = [
    ...(waits ? [`  ...cannotBeCancelled(${quoted(call)}),`] : []),
    ...(prefix ? [`  'contract-keys': ${quoted(`It puts \`${prefix}\` before the name that it is given.`)},`] : []),
    ...(tellsLoss ? [] : ["  'contract-not-held': 'Its release does not report that the lock was no longer held.',"]),
  ];
  const masters = hasMasters({ opening }) ? ['export const promises = { masters: true };', ''] : [];
  return [...masters, ...(excuses.length > 0 ? ['export const doesNotPromise = {', ...excuses, '};', ''] : [])];
}

const hasMasters = ({ opening }: Pick<Shape, 'opening'>) => opening?.args.includes('[redis]') ?? false;

function lockLines(shape: Shape): string[] {
  const { settings, refusal, waits, errors, client } = shape;
  const varying = isOf(settings, 'retries', 'attempts', 'patience');
  const valued = (which: 'waits' | 'once') =>
    varying.map((name) => `${name}: ${limits[meaningOf(name) ?? '']?.[which]}`).join(', ');
  const ask = (which: 'waits' | 'once') => (varying.length > 0 ? `ask({ ${valued(which)} })` : 'ask()');
  const usesSettings = [...(shape.opening?.args ?? []), ...shape.acquire.args].includes('settings');
  const fixed = [
    ...isOf(settings, 'lease').map((name) => `${name}: leaseMs`),
    ...isOf(settings, 'delay').map((name) => `${name}: retryDelayMs`),
  ];
  const given = [...fixed, ...(varying.length > 0 ? ['...limits'] : [])].join(', ');
  const tries = {
    error: ask('once'),
    nothing: `(await ${ask('once')}) || undefined`,
    'none: it waits': `tryFor(TRY_MS, () => ${ask('once')}, release)`,
  };
  const options = ['key', 'leaseMs', 'retryDelayMs', hasMasters(shape) ? 'masters' : 'redis'];
  const text = [
    `  async function ask(${varying.length > 0 ? 'limits' : ''}) {`,
    ...(usesSettings ? [`    const settings = { ${given} };`] : []),
    ...(client === 'node-redis' ? ['    const client = await clientOf(redis);'] : []),
    ...askLines(shape),
    '  }',
    '',
    `  ${releaseLine(shape)}`,
    `  const tryOnce = async () => ${tries[refusal]};`,
    '',
    '  return {',
    waits
      ? `    wait: () => ${ask('waits')},`
      : '    wait: (signal) => askAgain(tryOnce, retryDelayMs, signal, isRefusal),',
    '    tryOnce,',
    '    release,',
    ...(errors.length > 0 || !waits ? ['    isRefusal,'] : []),
    '  };',
    '});',
  ];
  const isRefusal =
    errors.length > 0 ? '(error) => refusals.includes(error?.constructor?.name)' : !waits ? '() => false' : undefined;
  const used = options.filter((name) => new RegExp(`\\b${name}\\b`).test(text.join('\n')));
  return [
    `export const createLock = adapt(({ ${used.join(', ')} }) => {`,
    ...(isRefusal ? [`  const isRefusal = ${isRefusal};`, ''] : []),
    ...text,
  ];
}

/** The code that opens and acquires the lock, and returns what is needed to release it. */
function askLines({ exported, opening, acquire, release, refusal, client }: Shape): string[] {
  const own = client === 'node-redis' ? 'client' : 'redis';
  const names = { redis: own, '[redis]': 'masters', '[key]': '[key]', inside: 'inside' };
  const inText = (args: Argument[]) => args.map((arg) => (arg in names ? names[arg as 'inside'] : arg)).join(', ');
  const ofLibrary = exported === 'default' ? 'library' : `library.${exported}`;
  const opened = opening && `${opening.how === 'class' ? 'new ' : ''}${ofLibrary}(${inText(opening.args)})`;
  const callee = opening ? ['lock', acquire.name].filter(Boolean).join('.') : ofLibrary;
  const call = `${callee}(${inText(acquire.args)})`;
  const open = opened ? [`    const lock = ${opening?.how === 'class' ? '' : 'await '}${opened};`] : [];
  if (release.by === 'leaving') return [...open, `    return enter((inside) => ${call});`];
  if (release.by !== 'lock') return [...open, `    return ${call};`];
  const hold = release.args.includes('hold') ? '{ lock, hold }' : 'lock';
  if (hold === 'lock' && refusal !== 'nothing') return [...open, `    await ${call};`, '    return lock;'];
  const isIn = refusal === 'nothing' ? `hold ? ${hold} : undefined` : hold;
  return [...open, `    const hold = await ${call};`, `    return ${isIn};`];
}

function releaseLine({ release }: Shape): string {
  switch (release.by) {
    case 'leaving':
      return 'const release = ({ leave, left }) => {\n    leave();\n    return left;\n  };';
    case 'hold is called':
      return 'const release = (leave) => leave();';
    case 'hold':
      return `const release = (hold) => hold.${release.name}();`;
    default: {
      const isOfHold = release.args.includes('hold');
      return `const release = (${isOfHold ? '{ lock, hold }' : 'lock'}) => lock.${release.name}(${release.args.join(', ')});`;
    }
  }
}
