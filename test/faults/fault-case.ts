import type { AuditLog } from '../support/control-plane/index.ts';
import type { ClusterState, StateView } from '../support/fault-proxy/cluster-state.ts';
import {
  type EventAction,
  type Fault,
  matching,
  type RequestAction,
} from '../support/fault-proxy/index.ts';
import type { Lane } from './lane.ts';
import { type Place, watchedPlurals } from './subject.ts';

/** One run of a case: a phase of creations (0), then one of edits (1), in the same namespace. */
export interface CaseRun extends Place {
  readonly lane: Lane;
  readonly phase: number;
  readonly audit: AuditLog;
  /** The script of the phase: what users do. */
  readonly act: () => Promise<void>;
  /** Resolves when the cluster is that of the run without faults at the end of a phase: this one's by default. */
  untilEqual(phase?: number): Promise<StateView>;
  /** Resolves when the runtime has sent nothing for three seconds. */
  untilQuiet(): Promise<void>;
  /** A namespace of its own. */
  otherNamespace(): Promise<string>;
}

/** A fault, as data: the suite runs it, and the table of `docs/reliability.md` is made of it. */
export interface FaultCase {
  /** The fault: the name of the test and the first column of the table. */
  readonly name: string;
  /** The second column. */
  readonly injected: string;
  /** Where it happens, if not in both phases. @default 'creations, edits' */
  readonly runs?: string;
  /** What is checked besides what is checked in every case. */
  readonly oracle?: string;
  /** Injected before the creations, and again before the edits. Each has to happen, in both. */
  readonly faults?: readonly Fault[];
  /** How long the cluster may take to be as it should be, in ms. @default 60_000 */
  readonly limitMs?: number;
  /** The faults end with the script, and not when all is as it should be. @default false */
  readonly endsWithScript?: boolean;
  /** What else happens while creations and edits are under way. @default `run.act()` */
  readonly during?: (run: CaseRun) => Promise<void>;
  /** Is another process at work when the phase is over? Then what it holds is not compared with what it held. @default false */
  readonly restarts?: boolean;
  /** Besides those that the edits give a reason to delete: `configmaps/a`. */
  readonly mayDelete?: (key: string) => boolean;
  /** Besides those that the edits give a reason to replace. */
  readonly mayReplace?: (key: string) => boolean;
}

/** The states of a run without faults: after the creations, after the edits. */
export type ExpectedStates = readonly ClusterState[];

export const writes = matching({ verb: ['apply', 'delete'] });
export const childApplies = matching({ verb: 'apply', resource: ['configmaps', 'deployments'] });
export const statusWrites = matching({ verb: 'apply', resource: 'things/status' });
export const lists = matching({ verb: 'list' });
export const watches = matching({ verb: 'watch' });

type Limits = Omit<Fault, 'on' | 'name' | 'action'>;

export function onRequest(name: string, action: RequestAction, limits: Limits = {}): Fault {
  return { on: 'request', name, action, ...limits };
}

export function onEvent(name: string, action: EventAction, limits: Limits = {}): Fault {
  return { on: 'event', name, action, ...limits };
}

/** For each of the watched kinds; by default of those of the subject. */
export function onEachKind(
  name: string,
  action: EventAction,
  limits: Limits = {},
  plurals: readonly string[] = Object.keys(watchedPlurals),
): readonly Fault[] {
  return plurals.map((resource) =>
    onEvent(`${name} of ${resource}`, action, {
      when: matching({ verb: 'watch', resource }),
      ...limits,
    }),
  );
}

/** Once for each of the watched kinds, in the midst of its events: a watch that fails twice in a row waits longer than a test should. */
export function onceOnEachKind(name: string, action: EventAction): readonly Fault[] {
  return onEachKind(name, action, { after: 1, times: 1 });
}
