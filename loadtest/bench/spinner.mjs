// Keeps one CPU awake: works without a pause until the process that started it is gone. `spinners.ts` gives it its priority.
// Plain JavaScript: Node alone runs it in a fifth of the time.

/** How long it works before it looks for messages, in milliseconds. */
const LOOK_EVERY_MS = 1;

process.on('message', spin);
process.on('disconnect', () => process.exit());
process.send('ready');

function spin() {
  const until = performance.now() + LOOK_EVERY_MS;
  while (performance.now() < until);
  setImmediate(spin);
}
