import type { ChildPlan, Element, Phase, PhaseInput, WorkBudget } from '../../compile/index.ts';
import type { Turn } from '../../controller/index.ts';
import type { PassToken, StoredObject, WriteOptions } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { Batches } from '../../util/batches.ts';
import { invariant } from '../../util/invariant.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { OperatorContext } from '../context.ts';
import type { Verdict } from '../decision.ts';
import type { Problem } from '../failure.ts';
import { hasFinalizer } from '../finalize/finalizer.ts';
import { Inventory } from '../ownership/inventory.ts';
import type { ResourceState } from '../resource-state.ts';
import type { PassDependencies } from '../wake/pass-dependencies.ts';
import type { ObservedChild } from './observe-children.ts';
import type { ReadResult } from './observe-reads.ts';
import type { PassTurn } from './pass-turn.ts';

/** One pass over one resource: what it began with, and what it has found and done so far. */
export interface Pass {
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
  /** By id. */
  readonly reads: Map<string, ReadResult>;
  /** By id: what expressions see under `observed`. */
  readonly observed: Map<string, ObservedChild>;
  /** By id, tier by tier. */
  readonly children: Map<string, ChildResult>;
  /** What is on record of its children. */
  readonly inventory: Inventory;
  /** What is put on record before it is made. */
  readonly recording: Batches<string, Problem | undefined>;
  /** By id, the names of children that are no lists, as far as they were needed before anything was rendered, and known. */
  readonly names: Map<string, string>;
  /** Wanted objects by identity, and the id of the child that wants them. */
  readonly claims: Map<string, string>;
  readonly pruned: PrunedObject[];
  readonly finalizing: Finalizing;
  /** What it did to the world. */
  readonly world: World;
}

/** What a pass has written into the metadata of the resource. */
export interface Finalizing {
  /** The finalizer is on it, with all that stands beside it. */
  isEnsured?: true;
  /** What went wrong with it though no child waits for it. */
  problem?: Problem;
  /** The resource as the last such write has left it. */
  resource?: KubeObject;
}

/** What a pass did. */
export interface World {
  /** Did it change anything but the status? */
  hasWritten: boolean;
  /** Ids of the patches that changed something. */
  readonly patched: string[];
  /** The first field of the resource itself that it patched, for people. */
  ownChange?: string;
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
export function worldWrite({ context, token }: Pass): WriteOptions {
  return { flow: { name: context.plan.name, priority: 'world' }, pass: token };
}

/** A logger for what a pass has to say. Made on demand: most passes change nothing and say nothing. */
export function loggerOf({ context, resource, id }: Pass): Logger {
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
  return {
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
    reads: new Map(),
    observed: new Map(),
    children: new Map(),
    inventory: new Inventory(resource, { ...context, state }),
    recording: new Batches(),
    names: new Map(),
    claims: new Map(),
    pruned: [],
    finalizing: {},
    world: { hasWritten: false, patched: [] },
  };
}
