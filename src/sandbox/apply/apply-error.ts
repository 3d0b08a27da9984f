import { HomeostatError } from '../../util/homeostat-error.ts';

/** Why an apply is refused; `invalid-item` never leaves the room. */
export type ApplyErrorCode = 'bad-request' | 'conflict' | 'untyped' | 'invalid-item';

/** One cause of a conflict, as the Status of the answer carries it. */
export interface ConflictCause {
  readonly reason: 'FieldManagerConflict';
  readonly message: string;
  readonly field: string;
}

/** An apply that cannot be done, in the server's words. */
export class ApplyError extends HomeostatError<ApplyErrorCode> {
  /** Of a `conflict`. */
  readonly causes: readonly ConflictCause[];
  constructor(code: ApplyErrorCode, message: string, causes: readonly ConflictCause[] = []) {
    super(code, message);
    this.causes = causes;
  }
}
