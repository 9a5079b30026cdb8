/** How long a server may leave a question unanswered, in milliseconds: a sale must be answered within a second. */
export const ANSWER_LIMIT_MS = 700;
