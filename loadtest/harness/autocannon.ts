// Sends a load of requests over many connections, by autocannon.

import autocannon from 'autocannon';

export interface LoadRequest {
  url: string;
  requests: number;
  connections: number;
  /** How long a request may take, in milliseconds. */
  requestLimitMs: number;
  /** Called right before each request is sent. Returns what `onAnswer` is given with its answer. */
  onSend(): { sentAt: number };
  onAnswer(status: number, body: string, sent: { sentAt: number }): void;
}

export interface RunningLoad {
  /** Resolves when it is over, with how many requests timed out or lost their connection. */
  ended: Promise<{ errors: number }>;
  /** Sends no more. */
  stop(): void;
}

/** Starts a load of POST requests: each connection sends one after the other. */
export function startLoad(load: LoadRequest): RunningLoad {
  const { url, requests, connections, requestLimitMs, onSend, onAnswer } = load;
  // The client builds a request right before it sends it, and has one request under way at a time.
  const request: autocannon.Request = {
    setupRequest(request, context: { sent?: { sentAt: number } }) {
      context.sent = onSend();
      return request;
    },
    onResponse(status, body, context: { sent?: { sentAt: number } }) {
      if (context.sent) onAnswer(status, body, context.sent);
    },
  };
  const options = {
    url,
    method: 'POST',
    amount: requests,
    connections,
    timeout: requestLimitMs / 1000,
    // When every connection has failed once, the rest would fail too.
    bailout: connections,
    requests: [request],
    // The run ends at the next sample, so a short one wastes no time. The types do not know it.
    sampleInt: 50,
  } as autocannon.Options;
  let instance: autocannon.Instance | undefined;
  const ended = new Promise<{ errors: number }>((resolve, reject) => {
    instance = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
  });
  return { ended, stop: () => instance?.stop() };
}
