import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { cleanUpLater } from '../../../clean-up.ts';

/** A TCP line to MySQL that breaks at a statement. */
export interface MysqlLine {
  url: string;
  /** Cuts the next connection that sends `statement`: before MySQL reads it, or when MySQL has answered. */
  cutAt(statement: string, when: 'before' | 'answered'): void;
}

/** Opens a line to the server of `url`, closed when the file has run. */
export async function openMysqlLine(url: string): Promise<MysqlLine> {
  const target = new URL(url);
  const [host, port] = [target.hostname, Number(target.port)];
  let fault: { statement: string; when: 'before' | 'answered' } | undefined;

  const server = createServer((client) => {
    const mysql = connect(port, host);
    let isCut = false;
    function breakOff() {
      client.destroy();
      mysql.destroy();
    }
    for (const socket of [client, mysql]) socket.on('error', () => {}).on('close', breakOff);
    client.on('data', (chunk) => {
      const hit = fault !== undefined && chunk.includes(fault.statement) ? fault : undefined;
      if (hit) fault = undefined;
      if (hit?.when === 'before') return breakOff();
      isCut ||= hit !== undefined;
      mysql.write(chunk);
    });
    mysql.on('data', (chunk) => (isCut ? breakOff() : client.write(chunk)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUpLater(() => void server.close());
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    cutAt(statement, when) {
      fault = { statement, when };
    },
  };
}
