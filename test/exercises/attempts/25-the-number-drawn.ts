import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'draws a new number before each try',
    from: 'lock',
    replace: [
      [
        `    // INCR is atomic: no two sales have the same number.
    fencingToken = String(await redis.incr(\`\${key}:tokens\`));
`,
        `    const draw = async () => {
      fencingToken = String(await redis.incr(\`\${key}:tokens\`));
    };
    await draw();
`,
      ],
      ['undefined, { signal });', 'undefined, { signal });\n      await draw();'],
    ],
    fails: 'plain',
    reason: 'fails: STALE_TOKEN',
  },
  {
    what: 'counts at the door, and reads the count when it has the lock',
    from: 'lock',
    replace: [
      [
        `    fencingToken = String(await redis.incr(\`\${key}:tokens\`));
`,
        `    await redis.incr(\`\${key}:tokens\`);
`,
      ],
      [
        `    }
  }

  async function release`,
        `    }
    fencingToken = String(await redis.get(\`\${key}:tokens\`));
  }

  async function release`,
      ],
    ],
    fails: 'crossed-write',
    reason: '1 lost',
  },
  {
    what: 'shows no number at all, so that none is refused',
    from: 'lock',
    replace: [['      return fencingToken;\n', '      return fencingToken && undefined;\n']],
    fails: 'crossed-write',
    reason: '1 lost',
  },
];
