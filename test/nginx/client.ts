import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Answer {
  status: number;
  type: string | undefined;
  connection: string | undefined;
  body: string;
}

/** Sends one request, on a connection of its own unless `options.agent` says otherwise. */
export async function ask(url: string, options: RequestOptions & { body?: string } = {}): Promise<Answer> {
  const sent = request(url, { agent: false, ...options });
  const answered = once(sent, 'response');
  // nginx may answer and hang up before it has read the whole body.
  sent.on('error', () => {});
  sent.end(options.body);
  const [response] = (await answered) as [IncomingMessage];
  const { 'content-type': type, connection } = response.headers;
  return { status: response.statusCode ?? 0, type, connection, body: await text(response) };
}

/** Sends `bytes` as they are and resolves with what has come back when nginx hangs up. */
export async function askRaw(url: string, bytes: string): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  return {
    status: Number(head.split(' ')[1]),
    type: /^content-type: (.*)$/im.exec(head)?.[1],
    connection: /^connection: (.*)$/im.exec(head)?.[1],
    body,
  };
}
