import type { WorkBudget } from '#compile/language/index.ts';
import { KubeError } from '#kube/roles.ts';
import { encodeBase64 } from '#util/base64.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { sha256Hex } from '#util/sha256.ts';
import { isOfCreate } from '../core/plan.ts';
import type { SecretState } from '../core/view.ts';
import {
  controllerName,
  secretCreateAnnotation,
  secretIdAnnotation,
  secretManager,
} from '../names.ts';
import { type CodeScope, evaluateCode } from '../spec/code-field.ts';
import type { SecretTemplate } from '../spec/object-spec.ts';
import type { HttpObjectPorts } from './ports.ts';

const flow = { name: controllerName, priority: 'object' } as const;
/** Attempts to store the values of an answer, and the delay before the second one. */
const attempts = 5;
const baseDelayMs = 200;

interface About {
  /** The `HttpObject`. */
  readonly owner: KubeObject;
  readonly template: SecretTemplate;
}

/** The Secret has the name of another one, or may not be written. */
export class SecretRejectedError extends HomeostatError<'secret-conflict' | 'secret-not-allowed'> {}

/** Writes values of answers into a Secret that the `HttpObject` owns. */
export class SecretOutput {
  readonly #ports: HttpObjectPorts;
  readonly #budget: WorkBudget;
  #hash: string | undefined;

  /** `hash`: of the content that was last written. */
  constructor(ports: HttpObjectPorts, hash: string | undefined, budget: WorkBudget) {
    this.#ports = ports;
    this.#budget = budget;
    this.#hash = hash;
  }

  get hash(): string | undefined {
    return this.#hash;
  }

  /** Creates the Secret without values, if it does not exist: what cannot be written must not be requested. @throws KubeError, SecretRejectedError */
  async prepare(about: About, signal: AbortSignal): Promise<void> {
    const live = await this.#read(about, signal);
    if (live !== undefined) return;
    const manifest = manifestOf(about, {});
    const metadata = { ...manifest.metadata, resourceVersion: '1' };
    await this.#apply({ ...manifest, metadata }, signal);
  }

  /** Stores the values of the answer to a create. They exist nowhere else, so failures are retried. */
  async storeAnswer(
    about: About,
    {
      key,
      id,
      scope,
    }: {
      readonly key: string;
      readonly id: string | undefined;
      readonly scope: CodeScope;
    },
    signal: AbortSignal,
  ): Promise<SecretState> {
    const annotations = {
      [secretCreateAnnotation]: key,
      ...(id !== undefined && { [secretIdAnnotation]: id }),
    };
    const stored: SecretState = { kind: 'stored', ...(id !== undefined && { id }) };
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (attempt > 0) await this.#ports.clock.sleep(baseDelayMs * 2 ** attempt, signal);
      try {
        const data = await this.#evaluate(about, scope, true);
        if (data === undefined) return { kind: 'lost' };
        await this.#apply(manifestOf(about, { data, annotations }), signal);
        return stored;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof KubeError)) return { kind: 'lost' };
      }
    }
    return { kind: 'lost' };
  }

  /**
   * Whether the Secret has the values of the answer to a create. `isPending`: a Secret of another owner does not hold the recovery.
   * @throws KubeError, SecretRejectedError
   */
  async recall(
    about: About,
    { key, isPending }: { readonly key: string | undefined; readonly isPending: boolean },
    signal: AbortSignal,
  ): Promise<SecretState> {
    const live = await this.#read(about, signal).catch((error: unknown) => {
      if (isPending && error instanceof SecretRejectedError) return undefined;
      throw error;
    });
    const { annotations = {} } = live?.metadata ?? {};
    if (key === undefined || annotations[secretCreateAnnotation] !== key) return { kind: 'lost' };
    const data = (live?.data ?? {}) as Readonly<Record<string, string>>;
    const { template } = about;
    const isWhole = Object.entries(template.data).every(
      ([name, code]) => !isOfCreate(code) || data[name] !== undefined,
    );
    if (!isWhole) return { kind: 'lost' };
    const id = annotations[secretIdAnnotation];
    return { kind: 'stored', ...(id !== undefined && { id }) };
  }

  /** Stores the values that each observation has, if they differ. @throws KubeError, ExpressionError */
  async storeObserved(about: About, scope: CodeScope, signal: AbortSignal): Promise<void> {
    const observed = Object.values(about.template.data).some((code) => !isOfCreate(code));
    if (!observed) return;
    const data = (await this.#evaluate(about, scope, false)) ?? {};
    const hash = sha256Hex(canonicalJson(data));
    if (hash === this.#hash) return;
    const live = await this.#read(about, signal);
    const current = (live?.data ?? {}) as Readonly<Record<string, string>>;
    const isSame = Object.entries(data).every(([key, value]) => current[key] === value);
    // Values of the create and the annotations stay.
    const kept = { ...current, ...data };
    const { annotations = {} } = live?.metadata ?? {};
    if (!isSame || live === undefined)
      await this.#apply(manifestOf(about, { data: kept, annotations }), signal);
    this.#hash = hash;
  }

  /** Base64 of the values of an answer. Undefined: one is missing. */
  async #evaluate(
    { template }: About,
    scope: CodeScope,
    ofCreate: boolean,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    const data: Record<string, string> = {};
    for (const [key, code] of Object.entries(template.data)) {
      if (isOfCreate(code) !== ofCreate) continue;
      const value = await evaluateCode(code, scope, this.#budget);
      if (value === undefined || value === null) return undefined;
      data[key] = encodeBase64(typeof value === 'string' ? value : JSON.stringify(value));
    }
    return data;
  }

  async #read({ owner, template }: About, signal: AbortSignal): Promise<KubeObject | undefined> {
    const live = await this.#ports.values.secret(
      owner.metadata.namespace ?? '',
      template.name,
      signal,
    );
    const isOwn = live?.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid);
    if (live !== undefined && isOwn !== true)
      throw new SecretRejectedError(
        'secret-conflict',
        `Secret "${template.name}" exists, and this HttpObject does not own it`,
      );
    return live;
  }

  async #apply(manifest: KubeObject, signal: AbortSignal): Promise<void> {
    await this.#ports.cluster.apply(
      manifest,
      { flow, fieldManager: secretManager, force: true },
      signal,
    );
  }
}

function manifestOf(
  { owner, template }: About,
  {
    data,
    annotations,
  }: {
    readonly data?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  },
): KubeObject {
  const { apiVersion, kind, metadata } = owner;
  const { name, namespace, uid = '' } = metadata;
  const ownerReferences = [
    { ...{ apiVersion, kind, name, uid }, controller: true, blockOwnerDeletion: true },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: template.name,
      ...(namespace !== undefined && { namespace }),
      labels: { 'app.kubernetes.io/managed-by': 'homeostat' },
      ...(annotations && { annotations }),
      ownerReferences,
    },
    ...(data && { data }),
  };
}
