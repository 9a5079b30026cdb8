/** What an external lock did that no lock may do. The message is a clause, without a full stop. */
export class ExternalLockFault extends Error {
  readonly code = 'LOCK_FAILED';
}
