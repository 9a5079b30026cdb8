// Why a command is not carried out: what the page is answered instead.

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
