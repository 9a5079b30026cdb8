/** How long to wait for a server's reply, in milliseconds: a buyer must get an answer within a second. */
export const ANSWER_LIMIT_MS = 700;
