/** The base of all failures at run time: a searchable `code` and the `cause`. */
export class HomeostatError<Code extends string = string> extends Error {
  readonly code: Code;
  constructor(code: Code, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }

  /** Nobody answered: what was tried is not to blame, and it is over as soon as somebody answers again. */
  get isSilence(): boolean {
    return false;
  }
}

/** A failure that no retry can mend; the controller counts and logs it and does not requeue. */
export class TerminalError extends HomeostatError<'terminal'> {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super('terminal', message, options);
  }
}
