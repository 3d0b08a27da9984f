/** The server does not answer, or it answers that it does not know us: either way nothing can be done. */
export interface ServerSilence {
  /** `unauthorized`: our credentials are expired, revoked or wrong. */
  readonly kind: 'unanswered' | 'unauthorized';
  /** Since the first try in vain, in ms. */
  readonly forMs: number;
}
