import type { Informer, InformerQuery, KubeError, Reader, Watcher } from '#kube/roles.ts';
import { decodeBase64 } from '#util/base64.ts';
import type { Clock } from '#util/clock.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { recordKeysName, webhookSecretName } from '#util/stored-names.ts';
import type { Blocked } from '../core/view.ts';
import { controllerName, httpLabel } from '../names.ts';
import type { ValueSource } from '../spec/value-source.ts';
import type { InputValue, ValueReader } from './ports.ts';
import { SecretRejectedError } from './secret-output.ts';

/** Secrets and ConfigMaps that are watched in one namespace. */
const maxWatched = 50;
/** Minimum time between two sweeps of a namespace. */
const sweepMs = 600_000;
const flow = { name: controllerName, priority: 'object' } as const;
const secretGvk = gvkOf('v1', 'Secret');
const configMapGvk = gvkOf('v1', 'ConfigMap');
const namespaceGvk = gvkOf('v1', 'Namespace');

interface NamedValuesOptions {
  readonly cluster: Watcher & Reader;
  readonly clock: Clock;
  /** The namespace of the runtime, whose Secrets are never read. Undefined: it runs outside of a cluster. */
  readonly runtimeNamespace: string | undefined;
  /** Called when a value of a namespace may have changed. */
  readonly onChange: (namespace: string) => void;
}

/** Reads Secrets, ConfigMaps and Namespaces by name, and watches them: it never lists a namespace. */
export class NamedValues implements ValueReader {
  readonly #options: NamedValuesOptions;
  readonly #informers = new Map<string, Informer>();
  /** By namespace, on the monotonic clock. */
  readonly #sweptAtMs = new Map<string, number>();

  constructor(options: NamedValuesOptions) {
    this.#options = options;
  }

  async read(
    namespace: string,
    source: ValueSource,
    signal: AbortSignal,
  ): Promise<InputValue | Blocked> {
    const denied = await this.#denied(namespace, source.name, signal);
    if (denied !== undefined) return denied;
    const gvk = source.kind === 'Secret' ? secretGvk : configMapGvk;
    const found = await this.#find({ gvk, namespace }, source.name, signal);
    if (isBlocked(found)) return found;
    const data = fieldOf(found, 'data')[source.key];
    const value = source.kind === 'Secret' && data !== undefined ? decodeBase64(data) : data;
    const named = `${source.kind} "${source.name}"`;
    if (found === undefined)
      return valueMissing(`${named} does not exist in namespace "${namespace}"`);
    if (value === undefined)
      return valueMissing(`${named} in namespace "${namespace}" has no key "${source.key}"`);
    const { uid = '', resourceVersion = '' } = found.metadata;
    return { value, version: `${uid}/${resourceVersion}/${source.key}` };
  }

  /** Where nothing is read, nothing is written, either. @throws KubeError, SecretRejectedError */
  async secret(
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const denied = await this.#denied(namespace, name, signal);
    if (denied !== undefined) throw new SecretRejectedError('secret-not-allowed', denied.message);
    return (await this.#options.cluster.get({ gvk: secretGvk, namespace, name }, { flow }, signal))
      ?.object;
  }

  async isNamespaceTerminating(namespace: string, signal: AbortSignal): Promise<boolean> {
    const found = await this.#find({ gvk: namespaceGvk }, namespace, signal);
    return !isBlocked(found) && found?.metadata.deletionTimestamp !== undefined;
  }

  /** Ends all watches. */
  close(): void {
    for (const informer of this.#informers.values()) informer.release();
    this.#informers.clear();
  }

  /** Ends the watches of a namespace without objects. */
  forget(namespace: string): void {
    this.#release(namespace);
    this.#sweptAtMs.delete(namespace);
  }

  #release(namespace: string): void {
    for (const [key, informer] of this.#informers) {
      if (!key.startsWith(`${namespace}/`)) continue;
      informer.release();
      this.#informers.delete(key);
    }
  }

  async #denied(
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<Blocked | undefined> {
    if (name === recordKeysName || name === webhookSecretName)
      return { reason: 'NotAllowed', message: `Secret "${name}" is one of the runtime` };
    const found = await this.#find({ gvk: namespaceGvk }, namespace, signal);
    if (isBlocked(found)) return found;
    const isLabelled = found?.metadata.labels?.[httpLabel] === 'true';
    if (isLabelled && namespace !== this.#options.runtimeNamespace) return undefined;
    const message = isLabelled
      ? 'Secrets and ConfigMaps in the namespace of the runtime are not read'
      : `Secrets and ConfigMaps are read only in namespaces with the label "${httpLabel}: true"; set it with "kubectl label namespace ${namespace} ${httpLabel}=true"`;
    return { reason: 'NamespaceNotAllowed', message };
  }

  async #find(
    query: Pick<InformerQuery, 'gvk' | 'namespace'>,
    name: string,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined | Blocked> {
    const informer = this.#informerOf(query, name);
    if (informer === undefined)
      return {
        reason: 'TooManyValues',
        message: `Expected at most ${maxWatched} Secrets and ConfigMaps in use in the namespace`,
      };
    const failure = await untilKnown(informer, signal);
    if (failure !== undefined)
      return {
        reason: 'ValueUnreadable',
        message: `Cannot read ${query.gvk.kind} "${name}": ${failure.message}`,
      };
    return informer.get(query.namespace, name)?.object;
  }

  /** The watch of the namespace itself does not count. */
  #isFull(namespace: string): boolean {
    const keys = [...this.#informers.keys()].filter((each) => each.startsWith(`${namespace}/`));
    return keys.filter((each) => !each.includes('/Namespace/')).length >= maxWatched;
  }

  /** Ends watches that may be of names no longer in use. Those in use begin again, because their objects read them. */
  #sweep(namespace: string): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const last = this.#sweptAtMs.get(namespace) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - last < sweepMs) return false;
    this.#sweptAtMs.set(namespace, nowMs);
    this.#release(namespace);
    this.#options.onChange(namespace);
    return true;
  }

  #informerOf(
    { gvk, namespace }: Pick<InformerQuery, 'gvk' | 'namespace'>,
    name: string,
  ): Informer | undefined {
    const owner = namespace ?? name;
    const key = `${owner}/${gvk.kind}/${name}`;
    const known = this.#informers.get(key);
    if (known !== undefined) return known;
    if (namespace !== undefined && this.#isFull(owner)) {
      if (!this.#sweep(owner)) return undefined;
    }
    const informer = this.#options.cluster.acquire({
      gvk,
      ...(namespace !== undefined && { namespace }),
      fieldSelector: `metadata.name=${name}`,
    });
    this.#informers.set(key, informer);
    const changed = () => this.#options.onChange(owner);
    informer.subscribe(({ initial }) => {
      if (!initial) changed();
    });
    informer.onState(changed);
    return informer;
  }
}

/** Resolves when the informer is synced, or with its error. @throws the reason of the signal */
function untilKnown(informer: Informer, signal: AbortSignal): Promise<KubeError | undefined> {
  return new Promise((resolve, reject) => {
    const settle = ({ state } = informer): boolean => {
      if (state.kind === 'waiting') return false;
      resolve(state.kind === 'failing' ? state.error : undefined);
      return true;
    };
    if (signal.aborted) return reject(signal.reason);
    if (settle()) return;
    const abort = () => {
      unsubscribe();
      reject(signal.reason);
    };
    const unsubscribe = informer.onState(() => {
      if (!settle()) return;
      unsubscribe();
      signal.removeEventListener('abort', abort);
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}

function valueMissing(message: string): Blocked {
  return { reason: 'ValueMissing', message };
}

function isBlocked(found: KubeObject | Blocked | undefined): found is Blocked {
  return found !== undefined && 'reason' in found && 'message' in found;
}

function fieldOf(object: KubeObject | undefined, field: string): Readonly<Record<string, string>> {
  return (object?.[field] ?? {}) as Readonly<Record<string, string>>;
}
