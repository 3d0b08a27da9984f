import { gvkKey, gvkOf } from '../../util/gvk.ts';
import { parseKey } from '../../util/object-key.ts';
import { wantAll } from '../child/want-tier.ts';
import { isPaused, isTerminating } from '../owner.ts';
import { createBudget, type OperatorContext, type PassTurn } from '../pass/context.ts';
import { beginPass, type ChildResult, type Pass } from '../pass/pass.ts';
import { createResourceState } from '../pass/resource-state.ts';
import { doomedOf } from '../removal/leaving.ts';
import { unwantedObjects } from '../run/prune.ts';
import { MissingRights } from '../wake/missing-rights.ts';
import { ResourceQueue } from '../wake/resource-queue.ts';
import { Timetable } from '../wake/timetable.ts';
import { Watches } from '../wake/watches.ts';
import type { Preview, Previewer } from './preview.ts';
import {
  createPreviewCluster,
  type LookUp,
  silentLogger,
  silentMetrics,
} from './preview-cluster.ts';

const nothing: Preview = { deletes: [], creates: 0, applies: 0, isComplete: true };

/**
 * Makes the previewer of a started operator: its passes are those of the operator up to the point where something is told or deleted,
 * with dependencies of their own that enqueue nothing.
 */
export function createPreviewer(context: OperatorContext): Previewer {
  const silent = silentContext(context);
  return {
    async of(key, signal) {
      signal.throwIfAborted();
      const pass = begin(silent, key, signal);
      if (pass === undefined) return nothing;
      try {
        await wantAll(pass);
        return previewOf(pass);
      } finally {
        pass.budget.end();
      }
    },
    stop: () => silent.watches.stop(),
  };
}

function silentContext(context: OperatorContext): OperatorContext {
  const { plan, clock, random, watches: beside } = context;
  const enqueue = () => undefined;
  const queue = new ResourceQueue({
    definition: plan.name,
    keys: () => [],
    noteEvent: () => undefined,
    enqueue,
  });
  const lookUp: LookUp = ({ apiVersion, kind, metadata }) => {
    const gvk = gvkKey(gvkOf(apiVersion, kind));
    for (const { informer } of beside.allChildren()) {
      if (gvkKey(informer.query.gvk) === gvk)
        return informer.get(metadata.namespace, metadata.name);
    }
    return undefined;
  };
  const cluster = createPreviewCluster(context.cluster, lookUp);
  const watches = new Watches({ plan, cluster, clock, queue, formerKinds: [], beside });
  return {
    ...context,
    cluster,
    watches,
    logger: silentLogger,
    metrics: silentMetrics,
    rights: new MissingRights({ cluster, onGranted: () => undefined }),
    timetable: new Timetable({ schedule: undefined, clock, random, keys: () => [], enqueue }),
    states: new Map(),
    departed: new Map(),
    guard: undefined,
    follow: () => undefined,
    onDecisions: () => undefined,
  };
}

/** Undefined: a change of the definition takes nothing from it now. */
function begin(context: OperatorContext, key: string, signal: AbortSignal): Pass | undefined {
  const { namespace, name } = parseKey(key);
  const { resources } = context.watches;
  const resource = resources.serves(namespace) ? resources.get(namespace, name)?.object : undefined;
  if (resource === undefined || isPaused(resource) || isTerminating(resource)) return undefined;
  const budget = createBudget(context);
  const turn: PassTurn = { signal, giveWay: async () => 'free', budget };
  const state = createResourceState(resource.metadata.uid ?? '');
  return beginPass({ context, key, resource, state, turn });
}

function previewOf(pass: Pass): Preview {
  const {
    context,
    did: { children },
  } = pass;
  const unwanted = unwantedObjects(pass, { isSettled: isTold, countsDropped: true });
  const verdicts = [...children.values()].flatMap(({ elements }) =>
    elements.map(({ verdict }) => verdict.kind),
  );
  const count = (kind: string) => verdicts.filter((each) => each === kind).length;
  const informers = [...context.watches.allChildren()].map(({ informer }) => informer);
  return {
    deletes: doomedOf(pass, unwanted),
    creates: count('created'),
    applies: count('applied'),
    isComplete:
      [...children.values()].every(isTold) &&
      informers.every(({ state }) => state.kind === 'synced'),
  };
}

/** Is all known that the child wants? What only waits to be made does not matter: what it does not want goes once it is. */
function isTold({ resolution }: ChildResult): boolean {
  return resolution !== 'unknown';
}
