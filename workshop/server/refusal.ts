// The refusal of a command, which the page shows.

/** `detail` is a sentence for the presenter. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
  }
}
