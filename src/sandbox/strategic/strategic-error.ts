import { HomeostatError } from '../../util/homeostat-error.ts';

/** A patch that cannot be merged, in the server's words. */
export class StrategicError extends HomeostatError<'unmergeable'> {
  /** Is the patch itself wrong? The server makes a failure of its own of all else. */
  readonly isMalformed: boolean;
  constructor(message: string, isMalformed = false) {
    super('unmergeable', message);
    this.isMalformed = isMalformed;
  }
}
