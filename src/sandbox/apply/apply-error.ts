import { HomeostatError } from '#util/homeostat-error.ts';

/** Why an apply is rejected; `invalid-item` is internal to this folder. */
type ApplyErrorCode =
  | 'bad-request'
  | 'conflict'
  | 'untyped'
  | 'unknown-version'
  | 'unconvertible'
  | 'invalid-item';

/** One cause of a conflict, as in the Status of the answer. */
export interface ConflictCause {
  readonly reason: 'FieldManagerConflict';
  readonly message: string;
  readonly field: string;
}

/** An apply that is rejected, with the server's message. */
export class ApplyError extends HomeostatError<ApplyErrorCode> {
  /** Only for `conflict`. */
  readonly causes: readonly ConflictCause[];
  constructor(code: ApplyErrorCode, message: string, causes: readonly ConflictCause[] = []) {
    super(code, message);
    this.causes = causes;
  }
}
