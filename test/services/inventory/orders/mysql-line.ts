import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
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
  const sockets = new Set<Socket>();
  let fault: { statement: string; when: 'before' | 'answered' } | undefined;

  const server = createServer((client) => {
    const mysql = connect(port, host);
    const both = [client, mysql];
    let isCut = false;
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        for (const other of both) other.destroy();
      });
    }
    client.on('data', (chunk) => {
      const isHit = fault !== undefined && chunk.includes(fault.statement);
      if (!isHit) return void mysql.write(chunk);
      isCut = true;
      if (fault?.when === 'before') breakOff();
      else mysql.write(chunk);
      fault = undefined;
    });
    mysql.on('data', (chunk) => {
      if (isCut) breakOff();
      else client.write(chunk);
    });

    function breakOff() {
      for (const socket of both) socket.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUpLater(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    cutAt(statement, when) {
      fault = { statement, when };
    },
  };
}
