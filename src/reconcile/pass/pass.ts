import type {
  ChildPlan,
  Element,
  Phase,
  PhaseInput,
  ReadPlan,
  ReadRequest,
  Seen,
  WorkBudget,
} from '../../compile/index.ts';
import type { Turn } from '../../controller/index.ts';
import type { PassToken, StoredObject, WriteOptions } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { Batches } from '../../util/batches.ts';
import { invariant } from '../../util/invariant.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Verdict } from '../decision.ts';
import type { Problem } from '../failure.ts';
import { hasFinalizer } from '../owner.ts';
import type { ReadSight } from '../wake/object-change.ts';
import type { PassDependencies } from '../wake/pass-dependencies.ts';
import type { OperatorContext, PassTurn } from './context.ts';
import { Inventory } from './inventory.ts';
import type { ResourceState } from './resource-state.ts';

/** What a pass was given as it began. */
export interface Given {
  readonly context: OperatorContext;
  readonly key: string;
  /** For people, to find its lines in the log. */
  readonly id: string;
  readonly token: PassToken;
  /** As the pass began. */
  readonly resource: KubeObject;
  readonly uid: string;
  /** Undefined for cluster-scoped resources. */
  readonly namespace: string | undefined;
  readonly state: ResourceState;
  readonly dependencies: PassDependencies;
  readonly signal: AbortSignal;
  /** Lets other resources have the worker first. */
  readonly giveWay: Turn['giveWay'];
  /** What it may compute and hold. */
  readonly budget: WorkBudget;
  /** What both phases get. */
  readonly phaseInput: Pick<
    PhaseInput,
    'resource' | 'now' | 'randomText' | 'clusterName' | 'budget'
  >;
  /** The phase *wanting*. */
  readonly wanting: Phase;
}

/** What a pass has found so far. */
export interface Found {
  /** By id. */
  readonly reads: Map<string, ReadResult>;
  /** By id: what expressions see under `observed`. */
  readonly observed: Map<string, ObservedChild>;
  /** What is on record of its children. */
  readonly inventory: Inventory;
  /** By id, the names of children that are no lists, as far as they were needed before anything was rendered, and known. */
  readonly names: Map<string, string>;
  /** Wanted objects by identity, and the id of the child that wants them. */
  readonly claims: Map<string, string>;
}

/** What a pass did so far, and what came of it. */
export interface Did {
  /** By id, tier by tier. */
  readonly children: Map<string, ChildResult>;
  readonly pruned: PrunedObject[];
  /** What is put on record before it is made. */
  readonly recording: Batches<string, Problem | undefined>;
  /** Did it change anything but the status? */
  hasWritten: boolean;
  /** Ids of the patches that changed something. */
  readonly patched: string[];
  /** The first field of the resource itself that it patched, for people. */
  ownChange?: string;
  /** The finalizer is on the resource, with all that stands beside it. */
  hasFinalizer?: true;
  /** What went wrong with the finalizer though no child waits for it. */
  finalizerProblem?: Problem;
  /** The resource as the last write into its metadata has left it. */
  resource?: KubeObject;
}

/** One pass over one resource: what it was given, what it has found and what it did. */
export interface Pass extends Given {
  readonly found: Found;
  readonly did: Did;
}

/** What came of one child. */
export interface ChildResult {
  readonly plan: ChildPlan;
  /** `wanted`: `when`, `forEach` and every name are known. `unknown`: something waits or fails, so what exists stays. */
  readonly resolution: 'wanted' | 'unwanted' | 'unknown';
  readonly elements: readonly ElementResult[];
}

/** What came of one element of a child. */
export interface ElementResult {
  readonly plan: ChildPlan;
  readonly element: Element | undefined;
  /** Empty when it could not be rendered. */
  readonly name: string;
  /** Left out: that of the resource, or none where the kind has none. */
  readonly namespace?: string;
  readonly verdict: Verdict;
  /** What stands in the way; undefined when it is as wanted. */
  readonly problem?: Problem;
  /** Something to tell of it though nothing is in its way. */
  readonly note?: string;
  /** The object, when it exists, is ours and is not being deleted. */
  readonly live?: StoredObject;
}

/** An object that was to go. */
export interface PrunedObject {
  readonly childId: string;
  readonly object: KubeObject;
  /**
   * `gone` at once, or `deleting` until its finalizers are done; `released`: it stays and is not ours any more; `held`: it stays for
   * now.
   */
  readonly state: 'gone' | 'deleting' | 'released' | 'held' | 'failed';
  /** `held` only until others are gone. @default false */
  readonly isQueued?: boolean;
  /** `held` until somebody approves. @default false */
  readonly isGuarded?: boolean;
  /** Why it goes, and what it waits for, for people. */
  readonly message?: string;
  readonly problem?: Problem;
}

/** What every write of the world carries. */
export function worldWrite({ context, token }: Given): WriteOptions {
  return { flow: { name: context.plan.name, priority: 'world' }, pass: token };
}

/** A logger for what a pass has to say. Made on demand: most passes change nothing and say nothing. */
export function loggerOf({ context, resource, id }: Given): Logger {
  const { namespace, name } = resource.metadata;
  const { kind } = resource;
  return context.logger.child({
    definition: context.plan.name,
    kind,
    namespace,
    name,
    reconcileId: id,
  });
}

export interface BeginOptions {
  readonly context: OperatorContext;
  readonly key: string;
  readonly resource: KubeObject;
  readonly state: ResourceState;
  readonly turn: PassTurn;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Takes the snapshot that a pass works on. */
export function beginPass({ context, key, resource, state, turn }: BeginOptions): Pass {
  const { plan, clock, random, cluster, watches } = context;
  const { uid, namespace } = resource.metadata;
  invariant(uid !== undefined, `A ${resource.kind} of the cache has no uid`);
  const phaseInput = {
    resource,
    now: new Date(clock.nowMs()).toISOString(),
    randomText: (length: number) => random.text(length, alphabet),
    clusterName: cluster.name,
    budget: turn.budget,
  };
  state.knowsBeginning ??= !hasFinalizer(resource, plan.name);
  const pass: Pass = {
    context,
    key,
    id: Math.floor(random.fraction() * 36 ** 8).toString(36),
    token: { key, definition: plan.name },
    resource,
    uid,
    namespace,
    state,
    signal: turn.signal,
    giveWay: turn.giveWay,
    budget: turn.budget,
    dependencies: watches.startPass(key),
    phaseInput,
    wanting: plan.startPhase({ phase: 'wanting', ...phaseInput }),
    found: {
      reads: new Map(),
      observed: new Map(),
      inventory: new Inventory(resource, { ...context, state }),
      names: new Map(),
      claims: new Map(),
    },
    did: {
      children: new Map(),
      pruned: [],
      recording: new Batches(),
      hasWritten: false,
      patched: [],
    },
  };
  return Object.freeze(pass);
}

/** Is nothing left of it that is ours? */
export function isDone({ state }: PrunedObject): boolean {
  return state === 'gone' || state === 'released';
}

/** What a pass knows of one read. */
export interface ReadResult extends ReadSight {
  readonly plan: ReadPlan;
  /** What it asks for; undefined while that is not known. */
  readonly request?: ReadRequest;
  readonly seen: Seen;
  /** Its request waits for a child or another read: asked again after the next tier. */
  readonly isOpen: boolean;
  /** Why it is not there, when that is more than waiting. */
  readonly problem?: Problem;
}

/** What a pass has seen of a child under `observed`. */
export interface ObservedChild {
  /** As the pass began. */
  readonly first: readonly StoredObject[] | undefined;
  /** As its expressions see it; undefined: nobody knows (yet). */
  readonly objects: readonly StoredObject[] | undefined;
}

/**
 * Waits until all have ended, then gives their results or throws the first failure: no request of a pass may still be
 * running when the pass is over.
 */
export async function allEnded<Result>(running: readonly Promise<Result>[]): Promise<Result[]> {
  const ends = await Promise.allSettled(running);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}
