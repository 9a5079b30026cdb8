/** Milliseconds on the monotonic clock that all processes of this host share: the clock of the nodes' events. */
export const sharedClock = () => Number(process.hrtime.bigint()) / 1e6;
