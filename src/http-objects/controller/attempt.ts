import { ExpressionError } from '../../compile/language/index.ts';
import { HttpTransportError, KubeError, type TransportAnswer } from '../../kube/roles.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { assertNever } from '../../util/homeostat-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { conditionsOf, type KubeObject, keyOf } from '../../util/kube-object.ts';
import { reconcileAtAnnotation } from '../../util/stored-names.ts';
import type { Answer } from '../core/answer.ts';
import { giveUpAnnotation } from '../core/decide-deletion.ts';
import { approveEndpointAnnotation } from '../core/endpoint-gate.ts';
import { objectStatusOf } from '../core/object-status.ts';
import { type ObjectPlan, planOf } from '../core/plan.ts';
import { type AnswerReader, readAnswer } from '../core/read-answer.ts';
import { type ObjectRecord, parseRecord, recordAnnotation } from '../core/record.ts';
import { approveCreateAnnotation, idAnnotation } from '../core/recover.ts';
import { requestBody } from '../core/request-body.ts';
import { later } from '../core/settle.ts';
import {
  type Blocked,
  isBlocked,
  nothingSeen,
  type Seen,
  type Settled,
  type Step,
  seenAfter,
  seenAfterStore,
  type View,
} from '../core/view.ts';
import { type CodeScope, evaluateCode } from '../spec/code-field.ts';
import { decodeObject } from '../spec/object-spec.ts';
import { problemText } from '../spec/problem.ts';
import type { EndpointSession } from './endpoint-session.ts';
import type { Endpoint, Endpoints } from './endpoints.ts';
import { type Claim, claimOf, type FarIndex, placeWithId } from './far-index.ts';
import { isUpdateDue, type ObjectMemory } from './object-memory.ts';
import { ObjectWriter } from './object-writer.ts';
import type { HttpObjectPorts, InputValue } from './ports.ts';
import { maskedJson, maskSecrets } from './secret-mask.ts';
import { SecretConflictError, SecretOutput } from './secret-output.ts';
import { transportFailure } from './transport-failure.ts';

export interface AttemptOptions {
  readonly ports: HttpObjectPorts;
  readonly endpoints: Endpoints;
  readonly index: FarIndex;
  /** Undefined: the first reconcile of the object in this process. */
  readonly memory: ObjectMemory | undefined;
  /** When this process started: an earlier one may have sent requests without an answer. In ms since the epoch. */
  readonly startedMs: number;
}

/** What a reconcile starts with. */
interface Start {
  readonly endpoint: Endpoint | undefined;
  readonly plan: ObjectPlan | Blocked;
  readonly inputs: Readonly<Record<string, InputValue>>;
  readonly isNamespaceTerminating: boolean;
}

type StepOf<Kind extends Step['kind']> = Extract<Step, { readonly kind: Kind }>;

/** One reconcile of one object: what it has read and done so far. */
export class Attempt {
  readonly #options: AttemptOptions;
  readonly #start: Start;
  readonly #writer: ObjectWriter;
  readonly #secret: SecretOutput;
  #record: ObjectRecord | undefined;
  #seen: Seen = nothingSeen;
  /** What code can read of the last observation, and of the answer to `create`. */
  #observed: CodeScope | undefined;
  #created: CodeScope | undefined;
  #code: number | undefined;
  #changedAt: string | undefined;
  #lostWrites: number;
  #lastUpdateMs: number;
  #lostAtMs: number;

  private constructor(object: KubeObject, start: Start, options: AttemptOptions) {
    const { ports, memory } = options;
    this.#options = options;
    this.#start = start;
    this.#writer = new ObjectWriter(object, ports);
    this.#secret = new SecretOutput(ports, memory?.secretHash);
    this.#record = parseRecord(object.metadata.annotations?.[recordAnnotation]);
    const isChanged = memory?.cause !== this.cause;
    this.#lostWrites = isChanged ? 0 : (memory?.lostWrites ?? 0);
    this.#lastUpdateMs = memory?.lastUpdateMs ?? Number.NEGATIVE_INFINITY;
    this.#lostAtMs = memory?.lostAtMs ?? options.startedMs;
    options.index.set(this.#claim);
  }

  /** Reads what the reconcile depends on. @throws KubeError */
  static async begin(
    object: KubeObject,
    options: AttemptOptions,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const { ports, endpoints } = options;
    const { namespace = '' } = object.metadata;
    const { spec, problems } = decodeObject(object, ports.parser);
    const name = endpointNameOf(object);
    const isDeleting = object.metadata.deletionTimestamp !== undefined;
    const endpoint = await endpoints.find(keyOf(namespace, name), isDeleting, signal);
    const isNamespaceTerminating =
      isDeleting && (await ports.values.isNamespaceTerminating(namespace, signal));
    const about = { endpoint, isNamespaceTerminating };
    if (spec === undefined) {
      const [first] = problems.filter(({ severity }) => severity === 'error');
      const message = first === undefined ? '' : problemText(first);
      return new Attempt(
        object,
        { ...about, plan: { reason: 'Invalid', message }, inputs: {} },
        options,
      );
    }
    const inputs: Record<string, InputValue> = {};
    for (const [input, source] of Object.entries(spec.inputs)) {
      const value = await ports.values.read(namespace, source, signal);
      if ('reason' in value) return new Attempt(object, { ...about, plan: value, inputs }, options);
      inputs[input] = value;
    }
    const used = [...new Set(Object.values(spec.secretFields))].sort();
    const versions = used.map((input) => inputs[input]?.version ?? '');
    const plan = planOf(spec, object.metadata, versions);
    return new Attempt(object, { ...about, plan, inputs }, options);
  }

  /** All that a decision depends on. */
  get view(): View {
    const { plan, endpoint, isNamespaceTerminating } = this.#start;
    const { metadata, spec } = this.#writer.object;
    const raw = isJsonObject(spec) ? spec : {};
    const whenGone =
      raw.whenGone === 'Orphan' || raw.whenGone === 'Wait' ? raw.whenGone : undefined;
    const { annotations = {} } = metadata;
    const { clock } = this.#options.ports;
    return {
      metadata,
      approvals: {
        endpoint: annotations[approveEndpointAnnotation],
        id: annotations[idAnnotation],
        create: annotations[approveCreateAnnotation],
        givesUp: annotations[giveUpAnnotation] === 'true',
      },
      endpoint: endpoint?.view,
      plan,
      deletion: {
        policy: raw.deletionPolicy === 'Orphan' ? 'Orphan' : 'Delete',
        whenGone: whenGone ?? (isNamespaceTerminating ? 'Orphan' : 'Wait'),
      },
      record: this.#record,
      writes: {
        lost: this.#lostWrites,
        isDue: isUpdateDue(this.#lastUpdateMs, clock.monotonicMs()),
      },
      seen: this.#seen,
      nowMs: clock.nowMs(),
      lostAtMs: this.#lostAtMs,
      ownerOf: (id) => this.#ownerOf(id),
      conflictOf: (which) => this.#options.index.ownerBefore(this.#claim, which),
    };
  }

  /** What the result depends on, besides time and the API: another text reconciles at once. */
  get cause(): string {
    const { endpoint, plan, inputs } = this.#start;
    const { metadata } = this.#writer.object;
    const { annotations = {} } = metadata;
    const approvals = [
      idAnnotation,
      approveCreateAnnotation,
      approveEndpointAnnotation,
      giveUpAnnotation,
    ];
    return JSON.stringify([
      metadata.generation,
      metadata.deletionTimestamp,
      [...approvals, reconcileAtAnnotation].map((name) => annotations[name]),
      endpoint?.version,
      isBlocked(plan) ? plan : Object.values(inputs).map(({ version }) => version),
    ]);
  }

  /** In ms; 0: only after changes. */
  get everyMs(): number {
    const { plan } = this.#start;
    return isBlocked(plan) ? 0 : plan.spec.everyMs;
  }

  /** Whether the status says that the object, with this spec and these inputs, was as desired. */
  get wasAsDesired(): boolean {
    const { metadata, status } = this.#writer.object;
    const { plan } = this.#start;
    if (metadata.deletionTimestamp !== undefined || isBlocked(plan)) return false;
    const isCurrent = isJsonObject(status) && status.observedGeneration === metadata.generation;
    const synced = conditionsOf(this.#writer.object).find(({ type }) => type === 'Synced');
    const isSent = !plan.recordsContent || deepEqual(this.#record?.sent, plan.content);
    return isCurrent && synced?.status === 'True' && isSent && this.#record?.pending === undefined;
  }

  memoryUntil(nextLookMs: number): ObjectMemory {
    const { hash } = this.#secret;
    return {
      uid: this.#writer.object.metadata.uid ?? '',
      cause: this.cause,
      nextLookMs,
      lostWrites: this.#lostWrites,
      lastUpdateMs: this.#lastUpdateMs,
      lostAtMs: this.#lostAtMs,
      ...(hash !== undefined && { secretHash: hash }),
    };
  }

  /** Stores the record, before anything that depends on it. @throws KubeError */
  async store(step: StepOf<'store'>, signal: AbortSignal): Promise<void> {
    const before = this.#record;
    this.#record = step.record;
    // At once: another object must not take the same one while this is stored.
    this.#options.index.set(this.#claim);
    try {
      await this.#writer.storeRecord(step.record, signal);
    } catch (error) {
      this.#record = before;
      this.#options.index.set(this.#claim);
      throw error;
    }
    this.#seen = seenAfterStore(this.#seen, before, step);
    this.#noteOwnership(before, step.record);
  }

  /** @throws KubeError */
  async release(note: string, signal: AbortSignal): Promise<void> {
    await this.#writer.release(signal);
    this.#record = {};
    this.#seen = nothingSeen;
    this.#options.index.set(this.#claim);
    this.#writer.event('Normal', 'Released', note);
  }

  /** @throws the reason of the signal */
  async send({ role, request }: StepOf<'send'>, signal: AbortSignal): Promise<void> {
    const { endpoint, plan, inputs } = this.#start;
    const session = endpoint?.session;
    if (session === undefined || endpoint === undefined)
      throw new Error('Expected an endpoint with credentials');
    const observed = this.#seen.answers.observe;
    const isWrite = role === 'create' || role === 'update';
    const body =
      isWrite && !isBlocked(plan)
        ? requestBody(role, {
            spec: plan.spec,
            inputs: valuesOf(inputs),
            observed: observed?.kind === 'ok' ? observed.result : undefined,
          })
        : undefined;
    if (role === 'update') this.#noteUpdate();
    try {
      const ownHeaders = this.#ownHeaders(role);
      const reader = this.#readerOf(session);
      const read = (raw: TransportAnswer) => {
        this.#code = raw.status;
        return readAnswer(role, raw, reader);
      };
      const sent = { ...request, ...(body && { body }), ownHeaders };
      const { answer, scope } = await session.send(sent, read, signal);
      this.#noteAnswer(role, scope, answer);
      this.#seen = seenAfter(this.#seen, role, answer);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HttpTransportError)) throw error;
      // Another process leads: nothing more is decided here.
      if (error.code === 'aborted') throw error;
      const answer = { kind: 'failed', failure: transportFailure(error) } as const;
      this.#seen = seenAfter(this.#seen, role, answer);
    }
    const after = this.#seen.answers[role];
    const isLost = after?.kind === 'failed' && after.failure.mayHaveArrived;
    if (isWrite && isLost) this.#lostAtMs = this.#options.ports.clock.nowMs();
  }

  /** Prepares, writes or reads the Secret for values of the answer to `create`. Returns why it cannot. @throws KubeError */
  async handleSecret(
    step: StepOf<'prepareSecret' | 'storeSecret' | 'recallSecret'>,
    signal: AbortSignal,
  ): Promise<Settled | undefined> {
    try {
      await this.#doWithSecret(step, signal);
      return undefined;
    } catch (error) {
      return secretFailure(error);
    }
  }

  async #doWithSecret(
    step: StepOf<'prepareSecret' | 'storeSecret' | 'recallSecret'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { plan } = this.#start;
    if (isBlocked(plan) || plan.spec.secret === undefined) return;
    const about = { owner: this.#writer.object, template: plan.spec.secret };
    switch (step.kind) {
      case 'prepareSecret':
        await this.#secret.prepare(about, signal);
        this.#seen = { ...this.#seen, isSecretPrepared: true };
        return;
      case 'storeSecret': {
        const { key, id } = step;
        const scope = this.#created ?? {};
        const secret = await this.#secret.storeAnswer(about, { key, id, scope }, signal);
        this.#seen = { ...this.#seen, secret };
        return;
      }
      case 'recallSecret': {
        const recalled = { key: step.key, isPending: this.#record?.pending !== undefined };
        const secret = await this.#secret.recall(about, recalled, signal);
        this.#seen = { ...this.#seen, secret };
        return;
      }
      default:
        assertNever(step);
    }
  }

  /** Writes the status, if it has changed, and the values of an observation that belong into a Secret. @throws KubeError */
  async report(settled: Settled, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.ports;
    const { plan } = this.#start;
    const isAsDesired = settled.synced.status === 'True';
    if (isAsDesired && this.#seen.answers.update === undefined) this.#lostWrites = 0;
    const scope = settled.isObserved ? this.#observed : undefined;
    const hasScope = scope !== undefined && !isBlocked(plan);
    const facts = hasScope ? await this.#evaluate(plan, scope) : undefined;
    const secretProblem =
      hasScope && isAsDesired ? await this.#storeObserved(plan, scope, signal) : undefined;
    const status = objectStatusOf(
      {
        settled: facts?.failure ?? secretProblem ?? settled,
        id: this.#record?.identity?.id,
        code: this.#code,
        changedAt: this.#changedAt,
        values: facts?.values,
        isReady: facts?.isReady,
      },
      { object: this.#writer.object, now: new Date(clock.nowMs()).toISOString() },
    );
    await this.#writer.writeStatus(status, signal);
  }

  /** Stores values of an observation in the Secret. Returns why it cannot. @throws KubeError */
  async #storeObserved(
    { spec }: ObjectPlan,
    scope: CodeScope,
    signal: AbortSignal,
  ): Promise<Settled | undefined> {
    if (spec.secret === undefined) return undefined;
    const about = { owner: this.#writer.object, template: spec.secret };
    try {
      await this.#secret.storeObserved(about, scope, signal);
      return undefined;
    } catch (error) {
      return secretFailure(error);
    }
  }

  /** Evaluates `values` and `ready`. */
  async #evaluate(
    { spec }: ObjectPlan,
    scope: CodeScope,
  ): Promise<{ values?: JsonObject; isReady?: boolean; failure?: Settled }> {
    try {
      const values: Record<string, Json> = {};
      for (const [name, code] of Object.entries(spec.values)) {
        const value = await evaluateCode(code, scope);
        if (value !== undefined) values[name] = maskedJson(value, (text) => this.#mask(text));
      }
      const isReady = spec.ready && (await evaluateCode(spec.ready, scope)) === true;
      return {
        ...(Object.keys(spec.values).length > 0 && { values }),
        ...(isReady !== undefined && { isReady }),
      };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const synced = { status: 'False', reason: 'CodeFailed', message } as const;
      return { failure: { synced, isObserved: true, next: { kind: 'look' } } };
    }
  }

  #readerOf(session: EndpointSession): AnswerReader {
    const { plan, inputs } = this.#start;
    const spec = isBlocked(plan) ? undefined : plan.spec;
    return {
      spec,
      metadata: this.#writer.object.metadata,
      id: this.#record?.identity?.id,
      match: this.#record?.pending?.match ?? (isBlocked(plan) ? {} : plan.match),
      showsErrors: !session.usesCredentials && Object.keys(inputs).length === 0,
      mask: (text) => this.#mask(text),
      nowMs: this.#options.ports.clock.nowMs(),
    };
  }

  #ownHeaders(role: string): Readonly<Record<string, string>> {
    const { plan } = this.#start;
    const { metadata } = this.#writer.object;
    if (isBlocked(plan)) return {};
    const etag = (this.#observed?.headers as JsonObject | undefined)?.etag;
    // Weak tags never match in `If-Match`.
    const isStrong = typeof etag === 'string' && etag.startsWith('"');
    if (role === 'update' && isStrong && plan.requests.update?.method === 'PUT')
      return { 'if-match': etag };
    if (role !== 'create' || !plan.spec.idempotencyKey) return {};
    const creates = this.#record?.creates ?? 1;
    const suffix = creates > 1 ? `-${creates}` : '';
    return { 'idempotency-key': `${metadata.uid ?? ''}${suffix}` };
  }

  #noteUpdate(): void {
    this.#lostWrites += 1;
    this.#lastUpdateMs = this.#options.ports.clock.monotonicMs();
  }

  #noteAnswer(role: string, scope: CodeScope, answer: Answer): void {
    const result = answer.kind === 'ok' ? answer.result : undefined;
    if (role === 'observe') this.#observed = { ...scope, ...(result !== undefined && { result }) };
    if (role === 'create') this.#created = scope;
    if (role === 'update') this.#noteChange('Updated', 'The object was updated');
  }

  #noteOwnership(before: ObjectRecord | undefined, after: ObjectRecord): void {
    if (before?.isOwned === true || after.isOwned !== true) return;
    if (before?.pending === undefined)
      this.#writer.event('Normal', 'Adopted', 'The object was adopted');
    else this.#noteChange('Created', 'The object was created');
  }

  #noteChange(reason: string, note: string): void {
    this.#changedAt = new Date(this.#options.ports.clock.nowMs())
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
    this.#writer.event('Normal', reason, note);
  }

  #ownerOf(id: string): string | undefined {
    const { identity } = this.#record ?? {};
    const place = identity && placeWithId(identity, id);
    return place && this.#options.index.ownerOf(place, this.#claim.key);
  }

  #mask(text: string): string {
    const values = Object.values(valuesOf(this.#start.inputs));
    const masked = maskSecrets(text, values);
    return this.#start.endpoint?.session?.mask(masked) ?? masked;
  }

  get #claim(): Claim {
    const { plan, endpoint } = this.#start;
    return claimOf(this.#writer.object, {
      plan: isBlocked(plan) ? undefined : plan,
      record: this.#record,
      location: endpoint?.view.location,
    });
  }
}

function endpointNameOf({ spec }: KubeObject): string {
  const endpoint = isJsonObject(spec) ? spec.endpoint : undefined;
  return isJsonObject(endpoint) && typeof endpoint.name === 'string' ? endpoint.name : '';
}

/** Why the Secret cannot be written. @throws other errors */
function secretFailure(error: unknown): Settled {
  const isForbidden = error instanceof KubeError && error.code === 'forbidden';
  const isExpected =
    isForbidden || error instanceof SecretConflictError || error instanceof ExpressionError;
  if (!isExpected) throw error;
  const synced = { status: 'False', reason: 'SecretNotWritten', message: error.message } as const;
  return { synced, isObserved: false, next: later };
}

function valuesOf(inputs: Readonly<Record<string, InputValue>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value]));
}
