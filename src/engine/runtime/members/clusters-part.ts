import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { ClustersSummary, DefinitionView } from '../definition-view.ts';
import type { DefinitionStatus } from '../definitions/definition-status.ts';
import { truncated } from '../error-message.ts';
import { count, text } from '../objects/own-kind.ts';
import { notReady, type StatusEvent, type Summary, type ViewPart } from '../view-part.ts';

/** At most this many names in a message. */
const maxNames = 5;

/** What a definition shows of the members in which it runs. */
export const clustersPart: ViewPart = {
  statusSchema: {
    clusters: {
      type: 'object',
      description: 'The members in which it runs (`controller.clusters`).',
      properties: {
        selected: count('Members that it selects.'),
        running: count('Those in which it runs.'),
        unreachable: count('Those that are not connected.'),
        failing: {
          type: 'array',
          description: 'Those in which it does not run, at most 20.',
          'x-kubernetes-list-type': 'atomic',
          items: {
            type: 'object',
            properties: {
              cluster: text('Name of the Cluster.'),
              reason: text('Reason in CamelCase.'),
              message: text('Message for users.'),
            },
          },
        },
      },
    },
  },
  blocks,
  notes,
  events,
};

interface ClustersStatus extends Omit<ClustersSummary, 'unreachable'> {
  readonly unreachable: number;
}

/** Its field of a status. */
export function clustersStatus({ clusters }: DefinitionView): {
  readonly clusters?: ClustersStatus;
} {
  if (clusters === undefined) return {};
  return { clusters: { ...clusters, unreachable: clusters.unreachable.length } };
}

/** A selected member that is reachable and where it does not run. */
function blocks({ clusters }: DefinitionView): Summary | undefined {
  if (clusters === undefined) return undefined;
  const { selected, running, unreachable, failing } = clusters;
  if (failing.length > 0) {
    const lines = failing
      .slice(0, maxNames)
      .map(({ cluster, message }) => `${cluster}: ${message}`);
    return notReady('ClustersFailing', truncated(lines.join('\n')), 'stuck');
  }
  const starting = selected - running - unreachable.length;
  if (starting <= 0) return undefined;
  return notReady('Starting', `Starting in ${starting} of ${selected} clusters`, 'moves');
}

function notes({ clusters }: DefinitionView): readonly string[] {
  if (clusters === undefined) return [];
  const { selected, unreachable } = clusters;
  if (selected === 0) return ['No Cluster matches the selector'];
  if (unreachable.length === 0) return [];
  const names = unreachable.slice(0, maxNames).map((name) => `"${name}"`);
  const more = unreachable.length > maxNames ? ` and ${unreachable.length - maxNames} more` : '';
  return [`Clusters that are not connected: ${names.join(', ')}${more}`];
}

/** One Event for each member in which it began to fail. */
function events(before: JsonObject, { clusters }: DefinitionStatus): readonly StatusEvent[] {
  const last = isJsonObject(before.clusters) ? before.clusters.failing : undefined;
  const known = (Array.isArray(last) ? last : []).filter(isJsonObject);
  return (clusters?.failing ?? [])
    .filter(
      ({ cluster, reason }) =>
        !known.some((each) => each.cluster === cluster && each.reason === reason),
    )
    .map(({ cluster, message }) => ({
      type: 'Warning',
      reason: 'ClustersFailing',
      action: 'Load',
      note: `Cluster "${cluster}": ${message}`,
    }));
}
