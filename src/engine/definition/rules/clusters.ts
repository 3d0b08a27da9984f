import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, mapsAt, valueAt } from '../tree.ts';
import { containsExpression, isDnsLabel, type Rule } from './rule.ts';
import { checkLiteralSelector } from './selector.ts';

/** Names that no member cluster has. */
const hubName = 'hub';

/**
 * Objects in member clusters: a computed `cluster` requires `crossCluster`. Otherwise users who can create the resource could write to
 * every member through the operator.
 */
export const checkClusters: Rule = function* (document) {
  const runsInMembers = valueAt(document, '/spec/controller/clusters') !== undefined;
  for (const list of ['/spec/reads', '/spec/children']) {
    for (const { value, path } of mapsAt(document, list)) {
      const at = pointerTo(path, 'cluster');
      if (Object.hasOwn(value, 'cluster')) {
        if (runsInMembers) yield fromMember(at);
        else yield* checkCluster(value, at);
      }
      yield* checkCrossCluster(value, pointerTo(path, 'crossCluster'));
    }
  }
};

function fromMember(path: string): Finding {
  return {
    code: 'invalid-value',
    path,
    at: 'key',
    message: 'A resource of a member cluster cannot use another cluster',
    hint: 'Remove "cluster", or remove "controller.clusters" to keep the resources on the hub',
  };
}

function* checkCluster({ cluster, crossCluster }: JsonObject, path: string): Iterable<Finding> {
  // The schema reports other types.
  if (typeof cluster !== 'string') return;
  if (containsExpression(cluster)) {
    if (crossCluster !== undefined) return;
    yield {
      code: 'forbidden-expression',
      path,
      message: `A computed "cluster" requires "crossCluster", found ${describeFound(cluster)}`,
      hint: 'Users who can create the resource choose the cluster; restrict it with "crossCluster: { selector: { matchLabels: ... } }"',
    };
  } else if (cluster === hubName || !isDnsLabel(cluster)) {
    yield {
      code: 'invalid-value',
      path,
      message: `Expected the name of a member cluster, found ${describeFound(cluster)}`,
      hint: 'Leave "cluster" out for an object on the hub',
    };
  }
}

function* checkCrossCluster(
  { cluster, crossCluster }: JsonObject,
  path: string,
): Iterable<Finding> {
  if (crossCluster === undefined) return;
  if (cluster === undefined) {
    yield {
      code: 'invalid-value',
      path,
      at: 'key',
      message: '"crossCluster" has no effect without "cluster"',
      hint: 'Add "cluster", or remove it',
    };
  }
  if (!isJsonObject(crossCluster)) return;
  yield* checkLiteralSelector(crossCluster.selector, pointerTo(path, 'selector'), {
    what: 'The selector of "crossCluster"',
    all: 'member clusters',
    insteadOfExpression: 'Write literal labels, or "selector: all" to allow every member',
    insteadOfEmpty: 'Write "selector: all" to allow every member',
  });
}
