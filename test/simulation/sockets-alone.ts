// What runs in a simulated process that has sockets and nothing else.

export { createConnection } from 'node:net';
