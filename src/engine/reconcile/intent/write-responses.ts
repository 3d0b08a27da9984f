import type { Intent } from './intent.ts';

/**
 * What the server has made of the last writes of one resource. A difference that remains after a write is no reason for another one. In memory
 * only: losing it costs requests.
 */
export class WriteResponses {
  /** By identity: how the server's response to our last apply differed from the intent. */
  readonly serverDefaults = new Map<string, string>();
  /** By identity, for children that may be held or wait: the last applied intent. It distinguishes drift from a new intent, to repair drift. */
  readonly appliedIntents = new Map<string, Intent>();
  /** How the server's response to our last status differed from it. */
  statusDefaults: string | undefined;

  /** Removes what is known of a deleted object. */
  forget(identity: string): void {
    this.serverDefaults.delete(identity);
    this.appliedIntents.delete(identity);
  }

  /** Removes what is known of objects that this filter does not keep. */
  retain(isKept: (identity: string) => boolean): void {
    for (const responses of [this.serverDefaults, this.appliedIntents]) {
      for (const identity of responses.keys()) if (!isKept(identity)) responses.delete(identity);
    }
  }
}
