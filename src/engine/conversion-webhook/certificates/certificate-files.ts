import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { messageOf } from '#util/homeostat-error.ts';
import { readPair } from './certificate.ts';
import { type CertificateSource, CurrentCertificate } from './certificate-source.ts';

/** A volume of a Secret follows it within a minute or two. */
const pollMs = 5_000;

interface CertificateFilesOptions {
  /** A directory with `tls.crt` and `tls.key`, as cert-manager and Secrets of type `kubernetes.io/tls` have them. */
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The certificate in a directory, which another program renews. It is read again every few seconds; files that are missing or do not belong
 * together change nothing: the next reading may find a whole pair.
 */
export class CertificateFiles implements CertificateSource {
  readonly #options: CertificateFilesOptions;
  readonly #current = new CurrentCertificate();
  #problem: string | undefined;

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
  }

  get current() {
    return this.#current.leaf;
  }

  onChange(listener: () => void): () => void {
    return this.#current.onChange(listener);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await this.#read();
      await clock.sleep(pollMs, signal).catch(() => undefined);
    }
  }

  async #read(): Promise<void> {
    const { directory, logger } = this.#options;
    const problem = await this.#load(directory);
    if (problem !== undefined && problem !== this.#problem)
      logger.warn({ directory, reason: problem }, 'The certificate of the webhook cannot be read');
    this.#problem = problem;
  }

  /** Returns what is wrong. */
  async #load(directory: string): Promise<string | undefined> {
    try {
      const [certificate, key] = await Promise.all(
        ['tls.crt', 'tls.key'].map((name) => readFile(join(directory, name), 'utf8')),
      );
      const pair = readPair(certificate ?? '', key ?? '');
      if (pair === undefined)
        return '"tls.crt" has no certificate, or "tls.key" is not the key of it';
      this.#current.set(pair);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}
