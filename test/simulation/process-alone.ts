// What runs in a simulated process that has no sockets, and asks what time it is and who it is.

export const clocks = () => ({
  wall: Date.now(),
  dated: new Date().toISOString(),
  measured: performance.now(),
  ns: Number(process.hrtime.bigint()),
  hrtime: process.hrtime(process.hrtime()),
});
export const after = (ms: number, run: () => void) => setTimeout(run, ms);
export const who = () => ({ pid: process.pid, drawn: [Math.random(), Math.random()], uuid: crypto.randomUUID() });
