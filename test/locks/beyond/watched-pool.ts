import type { Pool, PoolConnection, QueryOptions } from 'mysql2/promise';

/** A pool whose statements a test can see and hold back. It talks to the real server over the connections of `pool`. */
export function watchPool(pool: Pool) {
  const sent: string[] = [];
  let gate: { before: string; reached: () => void; open: Promise<void> } | undefined;

  async function query(connection: PoolConnection, options: QueryOptions) {
    const held = gate && options.sql.startsWith(gate.before) ? gate : undefined;
    if (held) {
      gate = undefined;
      held.reached();
      await held.open;
    }
    sent.push(options.sql);
    return connection.query(options);
  }

  const watched = {
    async getConnection() {
      const connection = await pool.getConnection();
      return new Proxy(connection, {
        get(target, name) {
          if (name === 'query') return (options: QueryOptions) => query(target, options);
          const value = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };

  return {
    pool: watched as Pool,
    /** The statements so far. */
    sent,
    /** Holds the next statement back that begins so. `reached` resolves when it is about to be sent, which letGo() then allows. */
    hold(before: string) {
      let letGo = () => {};
      const open = new Promise<void>((resolve) => (letGo = resolve));
      const reached = new Promise<void>((resolve) => (gate = { before, reached: resolve, open }));
      return { reached, letGo };
    },
  };
}
