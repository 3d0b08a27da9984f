import { metricCatalogue } from '#telemetry/roles.ts';
import { assertNever } from '#util/homeostat-error.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DefinitionFacts } from '../definitions/definition-conditions.ts';
import type { DefinitionStatus } from '../definitions/definition-status.ts';
import { count, text, texts } from '../objects/own-kind.ts';
import {
  type GaugeValue,
  notReady,
  type StatusEvent,
  type Summary,
  type ViewPart,
} from '../view-part.ts';
import type { RolloutView } from './rollout-view.ts';

/** Progress of a roll-out in a status. */
export type RolloutStatus = Omit<RolloutView, 'message'>;

/** What a definition shows of a roll-out. */
export const rolloutPart: ViewPart = {
  statusSchema: {
    rollout: {
      type: 'object',
      description: 'Progress of a roll-out; absent when all resources have the new revision.',
      properties: {
        from: text('Revision.'),
        to: text('Revision.'),
        state: text('`previewing`, `rolling`, `held` or `stopped`.'),
        reached: count('Resources that have the new revision.'),
        total: count('All resources.'),
        deletions: count('Number of objects that the roll-out deletes.'),
        dataObjects: texts('Those that hold data and still exist, at most 20.'),
        failed: texts('UIDs of resources that fail with the new revision and did not before.'),
      },
    },
  },
  entrySchema: { rollout: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  gauges: [metricCatalogue.definitionRollout, metricCatalogue.definitionRolloutResources],
  blocks,
  events,
  countsOf: (live, { rollout }) =>
    rollout !== undefined && isSameStep(live.rollout, rollout) ? { rollout: { ...rollout } } : {},
  entryOf,
  combined,
  measured,
};

/** Its field of a status. */
export function rolloutStatus({ persisted: { rollout } }: Pick<DefinitionFacts, 'persisted'>): {
  readonly rollout?: RolloutStatus;
} {
  if (rollout === undefined) return {};
  const { message: _, ...status } = rollout;
  return { rollout: status };
}

function blocks({ rollout }: DefinitionView): Summary | undefined {
  if (rollout === undefined) return undefined;
  const { state, message } = rollout;
  switch (state) {
    case 'held':
      return notReady('DeletionsHeld', message, 'stuck');
    case 'stopped':
      return notReady('RolloutStopped', message, 'stuck');
    case 'previewing':
    case 'rolling':
      return notReady('RollingOut', `From revision ${rollout.from} to ${rollout.to}`, 'moves');
    default:
      return assertNever(state);
  }
}

const reasons: Readonly<Partial<Record<RolloutView['state'], string>>> = {
  rolling: 'RolloutStarted',
  held: 'DeletionsHeld',
  stopped: 'RolloutStopped',
};

function events(before: JsonObject, after: DefinitionStatus): readonly StatusEvent[] {
  const last = isJsonObject(before.rollout) ? before.rollout : undefined;
  const now = after.rollout;
  const action = 'RollOut';
  const { instances } = after;
  // Without resources there is no roll-out.
  if (now === undefined) {
    const isDone = last !== undefined && last.to === after.revision && instances > 0;
    const note = `Revision ${after.revision} has reached all ${instances} resources`;
    return isDone ? [{ type: 'Normal', reason: 'RolloutFinished', action, note }] : [];
  }
  if (last?.state === now.state && last?.to === now.to) return [];
  // Resources are not counted before the first step.
  const total = now.total === 0 ? instances : now.total;
  if (total === 0) return [];
  const note = `From revision ${now.from} to ${now.to}: ${now.reached} of ${total} resources`;
  const reason = reasons[now.state];
  if (reason === undefined) return [];
  const type = now.state === 'rolling' ? 'Normal' : 'Warning';
  const deletions = now.state === 'held' ? `, it would delete ${deletionsText(now)}` : '';
  return [{ type, reason, action, note: `${note}${deletions}` }];
}

function deletionsText({ deletions, dataObjects = [] }: RolloutStatus): string {
  const objects = deletions === 1 ? '1 object' : `${deletions} objects`;
  return dataObjects.length === 0 ? objects : `${objects}, some of which hold data`;
}

function isSameStep(live: Json | undefined, { state, to }: RolloutStatus): boolean {
  return isJsonObject(live) && live.state === state && live.to === to;
}

function entryOf({ rollout }: DefinitionView): JsonObject {
  if (rollout === undefined) return {};
  const { from, to, state, failed } = rollout;
  return { rollout: { from, to, state, failed } };
}

const severity = { stopped: 3, held: 2, rolling: 1, previewing: 0 } as const;

/** The roll-out that needs attention most, with the numbers of all. */
function combined(views: readonly DefinitionView[]): Pick<DefinitionView, 'rollout'> {
  const all = views.flatMap(({ rollout }) => rollout ?? []);
  const [worst] = all.toSorted((a, b) => severity[b.state] - severity[a.state]);
  if (worst === undefined) return {};
  const sum = (key: 'reached' | 'total' | 'deletions') =>
    all.reduce((total, each) => total + each[key], 0);
  const counts = { reached: sum('reached'), total: sum('total'), deletions: sum('deletions') };
  const dataObjects = all.flatMap((each) => each.dataObjects ?? []).slice(0, 20);
  return { rollout: { ...worst, ...counts, ...(dataObjects.length > 0 && { dataObjects }) } };
}

function measured({ persisted: { rollout } }: DefinitionFacts): readonly GaugeValue[] {
  const { definitionRollout, definitionRolloutResources } = metricCatalogue;
  const pending = rollout === undefined ? 0 : rollout.total - rollout.reached;
  return [
    ...definitionRollout.values.state.map((state) => {
      const value = rollout?.state === state ? 1 : 0;
      return { gauge: definitionRollout, value, labels: [state] };
    }),
    { gauge: definitionRolloutResources, value: pending, labels: [] },
  ];
}
