import type { LeafCertificate } from './certificate.ts';

/** Where the server has its certificate from. */
export interface CertificateSource {
  /** What is served. Undefined: there is none yet. */
  readonly current: LeafCertificate | undefined;
  /** Calls the listener when {@link current} has changed. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
  /** Keeps it current until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** The current certificate, and who uses it. */
export class CurrentCertificate {
  readonly #listeners = new Set<() => void>();
  #leaf: LeafCertificate | undefined;

  get leaf(): LeafCertificate | undefined {
    return this.#leaf;
  }

  set(leaf: LeafCertificate | undefined): void {
    if (leaf?.fingerprint === this.#leaf?.fingerprint) return;
    this.#leaf = leaf;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
