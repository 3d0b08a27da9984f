import {
  type Cluster,
  type Informer,
  type InformerState,
  KubeError,
  type WriteOptions,
} from '#kube/roles.ts';
import { encodeBase64 } from '#util/base64.ts';
import type { Clock } from '#util/clock.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Random } from '#util/random.ts';
import {
  managedByLabel,
  managedByValue,
  recordKeysManager,
  recordKeysName,
  recordKeysNamespaces,
  recordKeysType,
} from '#util/stored-names.ts';
import { orAborted } from '#util/when-aborted.ts';
import { secretKind } from './record.ts';
import { KeyRing, keyRingIn } from './record-signature.ts';

/** 43 of 64 characters: 258 bits. */
const keyLength = 43;
const keyAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const baseDelayMs = 1_000;
const maxDelayMs = 300_000;

export interface RecordKeysOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  /** The definition that asks for them. */
  readonly definition: string;
  /** Where the Secret is. Undefined, for a reader: in one of {@link recordKeysNamespaces}. */
  readonly namespace: string | undefined;
  /** A missing Secret is not created. @default false */
  readonly isReadOnly?: boolean | undefined;
}

/**
 * The keys of the runtime that sign records: a Secret in its namespace, which all definitions share. It is created for the first resource
 * with something to record; if several processes try, the first one succeeds and the others use its key.
 */
export class RecordKeys {
  readonly #options: RecordKeysOptions;
  readonly #onChange: () => void;
  /** One for each namespace where the Secret may be. */
  readonly #informers: readonly Informer[];
  readonly #stops: (() => void)[] = [];
  readonly #stopper = new AbortController();
  readonly #write: WriteOptions;
  #ring: KeyRing | undefined;
  #secret: KubeObject | undefined;
  #failure: KubeError | undefined;
  #attempts = 0;
  #waiting: (() => void)[] = [];
  #isWanted = false;
  #isCreating = false;
  #cancelRetry: (() => void) | undefined;

  /** @param onChange called when the keys or the state change */
  constructor(options: RecordKeysOptions, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
    const { cluster, namespace, definition } = options;
    this.#write = { flow: { name: definition, priority: 'object' } };
    const fieldSelector = `metadata.name=${recordKeysName}`;
    const namespaces = namespace === undefined ? recordKeysNamespaces : [namespace];
    this.#informers = namespaces.map((place) =>
      cluster.acquire({ gvk: secretKind, namespace: place, fieldSelector }),
    );
  }

  start(): void {
    for (const informer of this.#informers)
      this.#stops.push(
        informer.subscribe(() => this.#update()),
        informer.onState(() => this.#update()),
      );
    this.#update();
  }

  /** `synced`: there are keys, or none are wanted. */
  get state(): InformerState {
    const states = this.#informers.map(({ state }) => state);
    const open = states.find(({ kind }) => kind !== 'synced');
    // Of several places, one with a Secret is enough.
    if (open !== undefined && (this.#secret === undefined || states.length === 1)) return open;
    if (this.#failure !== undefined) return { kind: 'failing', error: this.#failure };
    return this.#secret !== undefined || !this.#isWanted ? { kind: 'synced' } : { kind: 'waiting' };
  }

  /** The last keys that were read. Undefined: none was. */
  get ring(): KeyRing | undefined {
    return this.#ring;
  }

  /** A resource has something to record: a missing Secret is created. */
  want(): void {
    if (this.#isWanted || this.#options.isReadOnly === true) return;
    this.#isWanted = true;
    if (this.#secret === undefined) this.#update();
  }

  /** The namespace of the Secret. Undefined: there is none. */
  get place(): string | undefined {
    return this.#secret?.metadata.namespace;
  }

  /** When the Secret was created: ISO 8601 in UTC, by the clock of the server. */
  get createdAt(): string | undefined {
    return this.#secret?.metadata.creationTimestamp;
  }

  /** Resolves when there are keys, or when the first attempt to read or create them failed; rejects when the signal aborts. */
  async settled(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.state.kind !== 'waiting') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await orAborted(promise, signal);
  }

  stop(): void {
    this.#stopper.abort(new KubeError('aborted', 'The operator stops', { status: 0 }));
    this.#cancelRetry?.();
    for (const stop of this.#stops) stop();
    for (const informer of this.#informers) informer.release();
  }

  #update(): void {
    if (this.#informers.some(({ state }) => state.kind === 'synced')) this.#read();
    this.#notify();
  }

  #notify(): void {
    this.#onChange();
    if (this.state.kind === 'waiting') return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #read(): void {
    const secret = this.#find();
    if (secret === undefined) {
      this.#secret = undefined;
      // Without keys no record is authentic. After keys were lost, the next ones decide.
      this.#ring ??= new KeyRing([]);
      if (this.#isWanted) void this.#create();
      return;
    }
    const ring = keyRingIn(secret);
    this.#attempts = 0;
    this.#secret = secret;
    this.#failure = ring.newest === undefined ? noKey(secret) : undefined;
    if (ring.newest !== undefined) this.#ring = ring;
  }

  #find(): KubeObject | undefined {
    for (const informer of this.#informers)
      for (const { object } of informer.list())
        if (object.metadata.name === recordKeysName) return object;
    return undefined;
  }

  /** Never replaces a Secret: it is created, or exists. Failed attempts are repeated. */
  async #create(): Promise<void> {
    if (this.#isCreating || this.#cancelRetry !== undefined) return;
    this.#isCreating = true;
    const { cluster } = this.#options;
    const options = { ...this.#write, fieldManager: recordKeysManager, force: false };
    try {
      await cluster.apply(this.#manifest(), options, this.#stopper.signal);
      this.#failure = undefined;
    } catch (error) {
      if (this.#stopper.signal.aborted) return;
      if (!(error instanceof KubeError)) throw error;
      // Another process was faster: the watch delivers its Secret, unless it is gone already.
      if (error.code !== 'already-exists') this.#failure = error;
      this.#retryLater();
    } finally {
      this.#isCreating = false;
    }
  }

  #retryLater(): void {
    this.#attempts += 1;
    const delayMs = Math.min(maxDelayMs, baseDelayMs * 2 ** (this.#attempts - 1));
    this.#cancelRetry = this.#options.clock.after(delayMs, () => {
      this.#cancelRetry = undefined;
      this.#update();
    });
    this.#notify();
  }

  #manifest(): KubeObject {
    const { namespace = '', random, clock } = this.#options;
    // Never the name of a key that was lost: what it signed is not forged.
    const id = String(Math.floor(clock.nowMs()));
    return {
      apiVersion: 'v1',
      kind: secretKind.kind,
      metadata: {
        name: recordKeysName,
        namespace,
        // An apply with a version only creates.
        resourceVersion: '1',
        labels: { [managedByLabel]: managedByValue },
      },
      type: recordKeysType,
      data: { [id]: encodeBase64(random.text(keyLength, keyAlphabet)) },
    };
  }
}

function noKey({ metadata: { namespace = '' } }: KubeObject): KubeError {
  const message = `Secret "${namespace}/${recordKeysName}" has no key: add an entry with a number as its name and at least 32 bytes, or delete the Secret`;
  return new KubeError('unexpected', message, { status: 0 });
}
