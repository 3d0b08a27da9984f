import { ExpressionError, type WorkBudget } from '#compile/language/index.ts';
import type { KubeError } from '#kube/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { assertNever } from '#util/homeostat-error.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import type { Answer } from '../core/answer.ts';
import { objectStatusOf } from '../core/object-status.ts';
import type { ObjectPlan } from '../core/plan.ts';
import { type ObjectRecord, parseRecord, recordAnnotation } from '../core/record.ts';
import { later } from '../core/settle.ts';
import {
  isBlocked,
  nothingSeen,
  type Seen,
  type Settled,
  type Step,
  seenAfter,
  seenAfterStore,
  type View,
} from '../core/view.ts';
import type { CodeScope } from '../spec/code-field.ts';
import {
  approvalsOf,
  causeOf,
  deletionOf,
  masked,
  readStart,
  type Start,
} from './attempt-start.ts';
import { codeBudget } from './code-budget.ts';
import type { Reach } from './endpoint-outage.ts';
import type { Endpoints } from './endpoints.ts';
import { exchange } from './far-exchange.ts';
import { type Claim, claimOf, type FarIndex, placeWithId } from './far-index.ts';
import { isUpdateDue, type ObjectMemory } from './object-memory.ts';
import { ObjectWriter } from './object-writer.ts';
import { observedValues } from './observed-values.ts';
import type { HttpObjectPorts } from './ports.ts';
import { isRejection } from './rejected-writes.ts';
import { SecretOutput, SecretRejectedError } from './secret-output.ts';

export interface AttemptOptions {
  readonly ports: HttpObjectPorts;
  readonly endpoints: Endpoints;
  readonly index: FarIndex;
  /** Undefined: the first reconcile of the object in this process. */
  readonly memory: ObjectMemory | undefined;
  /** When this process started: an earlier one may have sent requests without an answer. In ms since the epoch. */
  readonly startedMs: number;
}

type StepOf<Kind extends Step['kind']> = Extract<Step, { readonly kind: Kind }>;

/** One reconcile of one object: what it has read and done so far. */
export class Attempt {
  readonly #options: AttemptOptions;
  readonly #start: Start;
  readonly #writer: ObjectWriter;
  readonly #budget: WorkBudget;
  readonly #secret: SecretOutput;
  #record: ObjectRecord | undefined;
  #seen: Seen = nothingSeen;
  /** What code can read of the last observation, and of the answer to `create`. */
  #observed: CodeScope | undefined;
  #created: CodeScope | undefined;
  #code: number | undefined;
  #reach: Reach;
  #changedAt: string | undefined;
  #lostWrites: number;
  #lastUpdateMs: number;
  #lostAtMs: number;
  #observedAtMs: number | undefined;
  /** Of the last decision. The answer to the write of the status may show a later edit or deletion. */
  #decidedCause: string | undefined;

  private constructor(object: KubeObject, start: Start, options: AttemptOptions) {
    const { ports, memory } = options;
    this.#options = options;
    this.#start = start;
    this.#writer = new ObjectWriter(object, ports);
    this.#budget = codeBudget(ports, object.metadata.namespace ?? '');
    this.#secret = new SecretOutput(ports, memory?.secretHash, this.#budget);
    this.#record = parseRecord(object.metadata.annotations?.[recordAnnotation]);
    const isChanged = memory?.cause !== this.cause;
    this.#lostWrites = isChanged ? 0 : (memory?.lostWrites ?? 0);
    this.#lastUpdateMs = memory?.lastUpdateMs ?? Number.NEGATIVE_INFINITY;
    this.#lostAtMs = memory?.lostAtMs ?? options.startedMs;
    this.#observedAtMs = memory?.observedAtMs;
    options.index.set(this.#claim);
  }

  /** Reads what the reconcile depends on. @throws KubeError */
  static async begin(
    object: KubeObject,
    options: AttemptOptions,
    signal: AbortSignal,
  ): Promise<Attempt> {
    return new Attempt(object, await readStart(object, options, signal), options);
  }

  /** All that a decision depends on. */
  get view(): View {
    const { plan, endpoint } = this.#start;
    const { object } = this.#writer;
    const { metadata } = object;
    const { clock } = this.#options.ports;
    return {
      metadata,
      approvals: approvalsOf(metadata.annotations),
      endpoint: endpoint?.view,
      plan,
      deletion: deletionOf(object, this.#start),
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

  /** Of the last request. */
  get reach(): Reach {
    return this.#reach;
  }

  /** See {@link causeOf}. */
  get cause(): string {
    return causeOf(this.#writer.object, this.#start);
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
    const isKnown = this.#record?.pending === undefined && this.#record?.isUnobserved === undefined;
    return isCurrent && synced?.status === 'True' && isSent && isKnown;
  }

  memoryUntil(nextLookMs: number): ObjectMemory {
    const { hash } = this.#secret;
    return {
      uid: this.#writer.object.metadata.uid ?? '',
      cause: this.#decidedCause ?? this.cause,
      nextLookMs,
      lostWrites: this.#lostWrites,
      lastUpdateMs: this.#lastUpdateMs,
      lostAtMs: this.#lostAtMs,
      ...(this.#observedAtMs !== undefined && { observedAtMs: this.#observedAtMs }),
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

  /** @throws HttpTransportError `aborted` */
  async send({ role, request }: StepOf<'send'>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.ports;
    const observed = this.#seen.answers.observe;
    if (role === 'update') this.#noteUpdate();
    const { answer, scope, code } = await exchange(
      role,
      request,
      {
        start: this.#start,
        metadata: this.#writer.object.metadata,
        record: this.#record,
        result: observed?.kind === 'ok' ? observed.result : undefined,
        headers: this.#observed?.headers as JsonObject | undefined,
        nowMs: clock.nowMs(),
        budget: this.#budget,
      },
      signal,
    );
    if (code !== undefined) this.#code = code;
    // `soon` without an answer: no connection, or no whole answer in time.
    const isUnreachable =
      code === undefined && answer.kind === 'failed' && answer.failure.class === 'soon';
    this.#reach = isUnreachable ? 'unreachable' : 'answered';
    if (scope !== undefined) this.#noteAnswer(role, scope, answer);
    this.#seen = seenAfter(this.#seen, role, answer);
    const isLost = answer.kind === 'failed' && answer.failure.mayHaveArrived;
    if ((role === 'create' || role === 'update') && isLost) this.#lostAtMs = clock.nowMs();
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
    this.#decidedCause = this.cause;
    const { clock } = this.#options.ports;
    const { plan } = this.#start;
    const isAsDesired = settled.synced.status === 'True';
    if (isAsDesired && this.#seen.answers.update === undefined) this.#lostWrites = 0;
    const scope = settled.isObserved ? this.#observed : undefined;
    const hasScope = scope !== undefined && !isBlocked(plan);
    const mask = (text: string) => masked(text, this.#start);
    const facts = hasScope
      ? await observedValues(plan, scope, { mask, budget: this.#budget })
      : undefined;
    if (hasScope) this.#observedAtMs = clock.monotonicMs();
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
      { object: this.#decidedObject, now: new Date(clock.nowMs()).toISOString() },
    );
    await this.#writer.writeStatus(status, signal);
  }

  /** The object with the generation of the spec that decided. */
  get #decidedObject(): KubeObject {
    const { object } = this.#writer;
    const { generation } = this.#start;
    return { ...object, metadata: { ...object.metadata, ...(generation && { generation }) } };
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
    const place = identity && placeWithId(this.#writer.object, identity, id);
    return place && this.#options.index.ownerOf(place, this.#claim.key);
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

/** Why the Secret cannot be written. @throws other errors */
function secretFailure(error: unknown): Settled {
  const isExpected = error instanceof SecretRejectedError || error instanceof ExpressionError;
  if (!isExpected && !isRejection(error)) throw error;
  const message = isExpected || error.code === 'forbidden' ? error.message : withoutValues(error);
  const synced = { status: 'False', reason: 'SecretNotWritten', message } as const;
  return { synced, isObserved: false, next: later };
}

/** The answer of an admission webhook may quote what it rejects. */
function withoutValues({ code }: KubeError): string {
  return `The API server rejects the Secret: ${code}`;
}
