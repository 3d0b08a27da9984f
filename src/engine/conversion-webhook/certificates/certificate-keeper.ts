import { type Cluster, type Informer, KubeError, type WriteOptions } from '#kube/roles.ts';
import type { Logger } from '#telemetry/roles.ts';
import type { Clock } from '#util/clock.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  managedByLabel,
  managedByValue,
  webhookSecretManager,
  webhookSecretName,
  webhookSecretType,
} from '#util/stored-names.ts';
import type { Certificate, LeafCertificate } from './certificate.ts';
import { type CertificateSource, CurrentCertificate } from './certificate-source.ts';
import { bundleOf, type CertificateState, dataOf, readState } from './certificate-state.ts';
import {
  type CertificateFacts,
  type CertificateTimes,
  leafToServe,
  nextStep,
  stepName,
} from './next-step.ts';
import { type CertificateIssuer, takeStep } from './take-step.ts';

export const secretGvk = gvkOf('v1', 'Secret');
const write: WriteOptions = { flow: { name: 'conversion', priority: 'object' } };
/** After a write that another server was faster with. */
const conflictMs = 1_000;
/** After any other failure. */
const retryMs = 5_000;

/** The bundles of the CRDs that the API server sends to the webhook. */
export interface CrdBundles {
  /** Whether all of them are known. */
  readonly isSynced: boolean;
  /** The authorities that each of them trusts. */
  list(): readonly (readonly Certificate[])[];
  /** Returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
}

export interface CertificateKeeperOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly issuer: CertificateIssuer;
  readonly times: CertificateTimes;
  readonly bundles: CrdBundles;
  /** The namespace of the Secret. */
  readonly namespace: string;
  /** The name of this server, different from that of all others. */
  readonly server: string;
  /** The DNS names and IP addresses by which the API server reaches it. */
  readonly names: readonly string[];
}

interface ReadSecret {
  readonly secret: KubeObject | undefined;
  readonly state: CertificateState | undefined;
}

/**
 * Keeps the certificates of the webhook in a Secret. Every server does; each write is a condition on the version that was read, so that one
 * of them succeeds. A server that is killed at any time leaves a state that any other one continues.
 */
export class CertificateKeeper implements CertificateSource {
  readonly #options: CertificateKeeperOptions;
  readonly #current = new CurrentCertificate();
  readonly #step = { name: '', sinceMs: 0 };
  readonly #trusted = new Map<string, Certificate>();
  #read: ReadSecret = { secret: undefined, state: undefined };
  #spreadSinceMs: number | undefined;
  /** The message of the last failure in a row. */
  #failure: string | undefined;
  #wake: () => void = () => {};

  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
  }

  get current(): LeafCertificate | undefined {
    return this.#current.leaf;
  }

  onChange(listener: () => void): () => void {
    return this.#current.onChange(listener);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { cluster, namespace, bundles } = this.#options;
    const fieldSelector = `metadata.name=${webhookSecretName}`;
    const secrets = cluster.acquire({ gvk: secretGvk, namespace, fieldSelector });
    const wake = () => this.#wake();
    const stops = [secrets.subscribe(wake), secrets.onState(wake), bundles.onChange(wake)];
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        const changed = new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        const waitMs = await this.#keep(secrets, signal);
        if (signal.aborted) return;
        const cancel = this.#options.clock.after(waitMs, wake);
        await changed;
        cancel();
      }
    } finally {
      signal.removeEventListener('abort', wake);
      for (const stop of stops) stop();
      secrets.release();
    }
  }

  /** Takes the next step. Returns after which time it is called again, in ms. */
  async #keep(secrets: Informer, signal: AbortSignal): Promise<number> {
    const { namespace, bundles, clock, logger, issuer } = this.#options;
    const secret = secrets.get(namespace, webhookSecretName)?.object;
    const state = this.#stateOf(secret);
    this.#observe(state, secret);
    // Without the bundles, an authority that is in use could be left out.
    if (secrets.state.kind !== 'synced' || !bundles.isSynced) return retryMs;
    const facts = this.#facts(state);
    const step = nextStep(state, facts);
    if (step.kind === 'wait') {
      this.#failure = undefined;
      return step.forMs;
    }
    try {
      const after = await takeStep(step, state, facts, issuer);
      if (after === undefined) return retryMs;
      await this.#write(after, secret, signal);
      this.#failure = undefined;
      logger.info({ step: step.kind, secret: webhookSecretName, namespace }, changeMessage);
      return 0;
    } catch (error) {
      if (signal.aborted) return retryMs;
      if (!(error instanceof KubeError)) throw error;
      if (isConflict(error)) return conflictMs;
      this.#failed(error, step.kind);
      await clock.sleep(retryMs, signal).catch(() => undefined);
      return 0;
    }
  }

  /** A namespace may be missing for days: the first failure in a row is a warning, and another one. */
  #failed(error: KubeError, step: string): void {
    const level = error.message === this.#failure ? 'debug' : 'warn';
    this.#failure = error.message;
    this.#options.logger[level]({ err: error, step, afterMs: retryMs }, failureMessage);
  }

  /** Objects of the cache never change: reading the certificates again would take time for nothing. */
  #stateOf(secret: KubeObject | undefined): CertificateState | undefined {
    if (this.#read.secret !== secret) this.#read = { secret, state: secret && readState(secret) };
    return this.#read.state;
  }

  #observe(state: CertificateState | undefined, secret: KubeObject | undefined): void {
    const { clock, bundles } = this.#options;
    const nowMs = clock.nowMs();
    if (state !== undefined) this.#current.set(leafToServe(state, this.current, nowMs));
    const found = [...(secret === undefined ? [] : bundleOf(secret)), ...bundles.list().flat()];
    for (const each of found) this.#trusted.set(each.fingerprint, each);
    // What was removed on purpose must not return with the next loss of the Secret.
    if (state !== undefined)
      for (const fingerprint of this.#trusted.keys())
        if (!found.some((each) => each.fingerprint === fingerprint))
          this.#trusted.delete(fingerprint);
    const name = state === undefined ? '' : stepName(state);
    const monotonicMs = clock.monotonicMs();
    if (name !== this.#step.name) Object.assign(this.#step, { name, sinceMs: monotonicMs });
    const next = state?.nextAuthority?.fingerprint;
    const isSpread = bundles
      .list()
      .every((bundle) => bundle.some(({ fingerprint }) => fingerprint === next));
    this.#spreadSinceMs =
      next !== undefined && bundles.isSynced && isSpread
        ? (this.#spreadSinceMs ?? monotonicMs)
        : undefined;
  }

  #facts(state: CertificateState | undefined): CertificateFacts {
    const { clock, server, names, times } = this.#options;
    const monotonicMs = clock.monotonicMs();
    const since = this.#spreadSinceMs;
    const own = state?.nextAuthority?.fingerprint ?? state?.authority?.fingerprint;
    return {
      nowMs: clock.nowMs(),
      times,
      server,
      names,
      served: this.current,
      trusted: [...this.#trusted.values()].filter(({ fingerprint }) => fingerprint !== own),
      stepForMs: monotonicMs - this.#step.sinceMs,
      spreadForMs: since === undefined ? undefined : monotonicMs - since,
    };
  }

  async #write(
    state: CertificateState,
    secret: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster, namespace } = this.#options;
    const options = { ...write, fieldManager: webhookSecretManager };
    const manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      // The type of an object cannot be changed.
      type: secret?.type ?? webhookSecretType,
      data: dataOf(state),
    };
    const identity = { name: webhookSecretName, namespace };
    if (secret === undefined) {
      const labels = { [managedByLabel]: managedByValue };
      // An apply with a version only creates.
      const metadata = { ...identity, resourceVersion: '1', labels };
      await cluster.apply({ ...manifest, metadata }, { ...options, force: false }, signal);
      return;
    }
    const { uid = '', resourceVersion = '' } = secret.metadata;
    const metadata = { ...identity, uid, resourceVersion };
    await cluster.replace({ ...manifest, metadata }, options, signal);
  }
}

const changeMessage = 'Wrote the certificates of the conversion webhook';
const failureMessage = 'Cannot write the certificates of the conversion webhook, will retry';

/** Another server was faster, or the Secret was deleted: the watch delivers what is there now. */
function isConflict({ code, notFound }: KubeError): boolean {
  // Without its namespace, nothing is there.
  if (notFound?.resource === 'namespaces') return false;
  return ['conflict', 'already-exists', 'not-found', 'uid-mismatch'].includes(code);
}
