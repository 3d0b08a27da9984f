import {
  type ChildPlan,
  type Element,
  type ExpressionInput,
  type Phase,
  type PhaseInput,
  type ReadPlan,
  type ReadRequest,
  TimeFlips,
  type WorkBudget,
} from '#compile';
import type { ReconcileContext } from '#controller';
import {
  KubeError,
  type ObjectRef,
  type PassToken,
  type StoredObject,
  type WriteOptions,
} from '#kube/roles.ts';
import type { Logger } from '#telemetry/roles.ts';
import { CallBatcher } from '#util/call-batcher.ts';
import { invariant } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { DecisionRecord, Verdict } from '../decision.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { hasFinalizer } from '../ownership-claims.ts';
import { disclosureOfResource } from '../secrecy.ts';
import { PassDependencies } from '../watch/dependency-index.ts';
import type { ReadObservation } from '../watch/object-change.ts';
import type { FollowUpCause } from '../watch/resource-queue.ts';
import type { OperatorContext, PassTurn } from './context.ts';
import type { Feature } from './feature.ts';
import { FinishedChildren } from './finished-children.ts';
import { Inventory } from './inventory.ts';
import { expressionsOf, type OtherClusters } from './other-clusters.ts';
import { type ResourceState, stateOf } from './resource-state.ts';

/** The input of a pass. It does not change while the pass runs. */
export interface PassInput {
  readonly context: OperatorContext;
  readonly key: string;
  /** For people, to find the log lines of the pass. */
  readonly id: string;
  readonly token: PassToken;
  /** As of the start of the pass. */
  readonly resource: KubeObject;
  readonly uid: string;
  /** Undefined for cluster-scoped resources. */
  readonly namespace: string | undefined;
  readonly state: ResourceState;
  readonly dependencies: PassDependencies;
  /** The clusters beside that of the resource. Undefined: neither the definition nor the resource has objects there. */
  readonly others: OtherClusters | undefined;
  readonly signal: AbortSignal;
  /** The features that it asks. Mostly none. */
  readonly features: readonly Feature[];
  /** Yields the worker to other resources. */
  readonly yieldWorker: ReconcileContext['yieldWorker'];
  /**
   * Has the resource reconciled again right after this pass. It acts at once: a status that is still to be written is left to the next
   * pass (`yieldWorker`).
   */
  readonly again: (cause: FollowUpCause) => void;
  /** Limits its computation and memory. */
  readonly budget: WorkBudget;
  /** The common input of both phases. */
  readonly phaseInput: Omit<PhaseInput, 'phase' | 'children' | 'reads' | 'observed'> & {
    readonly flips: TimeFlips;
  };
  /** Is what expressions may read of features known? */
  readonly isInputKnown: boolean;
  /** The phase that renders the desired objects (`wanting`). */
  readonly desiredPhase: Phase;
}

/** What a pass has found so far. */
export interface PassFindings {
  /** By id. */
  readonly reads: Map<string, ReadResult>;
  /** By id: the values of `observed` in expressions. */
  readonly observed: Map<string, ObservedChild>;
  /** The recorded children. */
  readonly inventory: Inventory;
  /** The records of children that run once. */
  readonly finished: FinishedChildren;
  /** By id, the names of children that are not lists, if a name is needed before rendering and is known. */
  readonly names: Map<string, string>;
  /** Desired objects by identity, with the id of their child. */
  readonly desiredObjects: Map<string, string>;
}

/** The actions of a pass so far, and their results. */
interface PassEffects {
  /** By id, tier by tier. */
  readonly children: Map<string, ChildResult>;
  readonly pruned: PrunedObject[];
  /** Adds objects to the inventory before they are created. */
  readonly inventoryWrites: CallBatcher<string, Problem | undefined>;
  /** Did the pass change anything but the status? */
  hasWritten: boolean;
  /** Ids of the patches that changed something. */
  readonly patched: string[];
  /** The first field that it patched in the resource itself, for people. */
  ownPatchedField?: string;
  /** The finalizer and its annotations are on the resource. */
  hasFinalizer?: true;
  /** What a feature no longer keeps is not deleted. */
  outdatedProblem?: Problem;
  /** An error of the finalizer that blocks no child. */
  finalizerProblem?: Problem;
  /** The resource after the last write to its metadata. */
  updatedResource?: KubeObject;
}

/** One pass over one resource: its input, findings and effects. */
export interface Pass extends PassInput {
  readonly findings: PassFindings;
  readonly effects: PassEffects;
}

/** The result of one child. */
export interface ChildResult {
  readonly plan: ChildPlan;
  /** `desired`: `when`, `forEach` and every name are known. `unknown`: something waits or fails, so existing objects are kept. */
  readonly resolution: 'desired' | 'omitted' | 'unknown';
  readonly elements: readonly ElementResult[];
}

/** The result of one element of a child. */
export interface ElementResult {
  readonly plan: ChildPlan;
  readonly element: Element | undefined;
  /** Empty if it could not be rendered. */
  readonly name: string;
  /** @default the namespace of the resource; none for cluster-scoped kinds */
  readonly namespace?: string | undefined;
  /** The member cluster. @default undefined: on the hub, or unknown because it could not be rendered */
  readonly cluster?: string | undefined;
  /** What the pass did to the object. @default undefined: nothing */
  readonly change?: Extract<Verdict, { kind: 'created' | 'applied' }>;
  /** The error or blocking condition; undefined: the object is as desired. */
  readonly problem?: Problem;
  /** A notice to report, though nothing blocks the element. */
  readonly notice?: string;
  /**
   * The object, if it exists, belongs to the resource and is not being deleted. Of an object that has finished and removed itself, the last
   * state, without a `resourceVersion`.
   */
  readonly live?: StoredObject;
}

/** An object to delete. */
export interface PrunedObject {
  readonly childId: string;
  readonly object: KubeObject;
  readonly cluster: string | undefined;
  /** `deleting`: until its finalizers are removed. `released`: kept, and no longer managed. `held`: kept for now. */
  readonly state: 'deleted' | 'deleting' | 'released' | 'held' | 'failed';
  /** `held` only until other objects are deleted. @default false */
  readonly isQueued?: boolean;
  /** `held` until a user approves. @default false */
  readonly isGuarded?: boolean;
  /** `held` until others are ready. @default undefined: not */
  readonly deferred?: { readonly losesData: boolean };
  /** Why it is deleted, and what its deletion waits for, for people. */
  readonly message?: string;
  /** What `deleteWhen` keeps it for. @default undefined: it does not */
  readonly heldBy?: string;
  readonly problem?: Problem;
}

/** The options of every write of a pass except the status. */
export function clusterWrite({ context, token }: PassInput, ref?: ObjectRef): WriteOptions {
  const flow = { name: context.plan.name, priority: 'object' } as const;
  return { flow, pass: token, ...(ref?.isPrivate === true && { isPrivate: true }) };
}

/** The error of a request of the pass. @throws any other error, and that of an aborted pass */
export function requestError(error: unknown, { signal }: Pick<PassInput, 'signal'>): KubeError {
  if (!(error instanceof KubeError) || signal.aborted) throw error;
  return error;
}

/** The problem of a failed request about the resource itself. `what`: the part that it was about. */
export function problemOfResource({ context }: PassInput, error: KubeError, what = ''): Problem {
  const problem = problemOfRequest(error, { about: disclosureOfResource(context.plan) });
  return what === '' ? problem : { ...problem, message: `${what}: ${problem.message}` };
}

/** Counts an apply of the pass: `homeostat_applies_total`. */
export function countApply({ context, effects }: Pass, result: string): void {
  if (result === 'created' || result === 'changed') effects.hasWritten = true;
  context.applies.increment([context.plan.name, result]);
}

/** Passes on the record of a finished pass. */
export function publishDecisions({ context, key }: PassInput, record: DecisionRecord): void {
  context.trace?.onDecisions(key, record);
  context.onDecisions?.(key, record);
}

/** An Event on the resource. */
interface PassEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** @default Reconcile */
  readonly action?: string;
  readonly note: string;
  /** See `EventInput`. @default false */
  readonly isLasting?: boolean;
}

/** Emits an Event on the resource. */
export function emitEvent(
  { context, resource }: PassInput,
  { action = 'Reconcile', ...event }: PassEvent,
): void {
  const definition = context.plan.name;
  context.cluster.events.record({ regarding: resource, ...event, action, definition });
}

/** The logger of a pass. Created on demand: most passes log nothing. */
export function loggerOf({ context, resource, id }: PassInput): Logger {
  const { namespace, name } = resource.metadata;
  const { kind } = resource;
  return context.logger.child({
    definition: context.plan.name,
    kind,
    ...(namespace !== undefined && { namespace }),
    name,
    reconcileId: id,
  });
}

/** What a pass is to work on. */
export interface PassRequest {
  readonly key: string;
  readonly resource: KubeObject;
  readonly turn: PassTurn;
  /** @default the state that is kept of this resource */
  readonly state?: ResourceState;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Takes the snapshot that a pass works on. */
export function beginPass(
  context: OperatorContext,
  { key, resource, turn, state = stateOf(context, key, resource) }: PassRequest,
): Pass {
  const { plan, clock, random, cluster, watches } = context;
  const { uid, namespace } = resource.metadata;
  invariant(uid !== undefined, `A ${resource.kind} of the cache has no uid`);
  const nowMs = clock.nowMs();
  const features = context.features.of(resource);
  // Expressions of one pass see the same, whatever happens meanwhile.
  const inputs = features.flatMap(({ input }) => (input === undefined ? [] : [input(uid)]));
  const phaseInput = {
    resource,
    now: new Date(nowMs).toISOString(),
    flips: new TimeFlips(nowMs),
    randomText: (length: number) => random.text(length, alphabet),
    cluster: { name: cluster.name, labels: cluster.labels ?? {} },
    ...expressionsOf(context.others),
    budget: turn.budget,
    ...Object.assign({}, ...inputs),
  };
  state.hadNoFinalizer ??= !hasFinalizer(resource, plan.name);
  const inventory = new Inventory(context, resource, state);
  const pass: Pass = {
    context,
    key,
    id: Math.floor(random.fraction() * 36 ** 8).toString(36),
    token: tokenOf(context, key),
    resource,
    uid,
    namespace,
    state,
    signal: turn.signal,
    yieldWorker: turn.yieldWorker,
    again: (cause) => watches.queue.enqueueFollowUp(key, cause),
    budget: turn.budget,
    dependencies: new PassDependencies(key, watches),
    others: undefined,
    features,
    phaseInput,
    isInputKnown: !inputs.includes(undefined),
    desiredPhase: plan.startPhase({ phase: 'wanting', ...phaseInput }),
    findings: {
      reads: new Map(),
      observed: new Map(),
      inventory,
      finished: new FinishedChildren(resource, plan.name),
      names: new Map(),
      desiredObjects: new Map(),
    },
    effects: {
      children: new Map(),
      pruned: [],
      inventoryWrites: new CallBatcher(),
      hasWritten: false,
      patched: [],
    },
  };
  return Object.freeze(isOfOthers(pass) ? withOthers(pass) : pass);
}

function tokenOf({ plan, trace }: OperatorContext, key: string): PassToken {
  const token = { key, definition: plan.name };
  if (trace === undefined) return token;
  return { ...token, onRequest: (request) => trace.onRequest(key, request) };
}

/** Does the definition or the resource have objects in other clusters? */
function isOfOthers({ context: { others }, resource, findings: { inventory } }: Pass): boolean {
  const isRecorded = resource.metadata.annotations?.[others.annotation] !== undefined;
  return others.isUsed || isRecorded || inventory.isElsewhere;
}

function withOthers(pass: Pass): Pass {
  // They work with the pass that has them.
  const mutable: { -readonly [Key in keyof Pass]: Pass[Key] } = pass;
  mutable.others = pass.context.others.begin(pass);
  return mutable;
}

/** Is the object deleted or released? */
export function isRemoved({ state }: PrunedObject): boolean {
  return state === 'deleted' || state === 'released';
}

/** The state of one read. */
export interface ReadResult extends ReadObservation {
  readonly plan: ReadPlan;
  /** The request; undefined while it is unknown. */
  readonly request?: ReadRequest;
  readonly input: ExpressionInput;
  /** The request waits for a child or another read: it is evaluated again after the next tier. */
  readonly isOpen: boolean;
  /** Why the object is missing, if that is more than waiting. */
  readonly problem?: Problem;
}

/** A child under `observed`. */
interface ObservedChild {
  /** At the start of the pass. */
  readonly first: readonly StoredObject[] | undefined;
  /** The value for expressions; undefined: not known yet. */
  readonly objects: readonly StoredObject[] | undefined;
}

/** Waits for all promises, then returns their results or throws the first error: no request may outlive its pass. */
export async function allSettledOrThrow<Result>(
  running: readonly Promise<Result>[],
): Promise<Result[]> {
  const ends = await Promise.allSettled(running);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}
