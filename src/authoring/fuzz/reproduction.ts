import { type TestHttpApi, testHub } from '#definition';
import { isCluster } from '#simulation';
import type { Json, JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { Disturbance } from './disturbance.ts';
import { type FuzzFailure, reconnectMinutes } from './fuzz-run.ts';
import { type FuzzTarget, referenceOf, resourceOf } from './fuzz-target.ts';
import type { Action, Content, History } from './history.ts';

/** A step of an `OperatorTest`, as written. */
type Step = JsonObject;

export interface Reproduction {
  readonly target: FuzzTarget;
  readonly history: History;
  readonly failure: FuzzFailure;
  /** Objects that exist before. */
  readonly given: readonly KubeObject[];
  /** Simulated HTTP APIs. */
  readonly apis: readonly TestHttpApi[];
  /** Where the resource is: name of a `Cluster`, or the hub. */
  readonly place: string;
  /** Path of the definition, relative to the file of the test. */
  readonly definition: string;
}

/** An `OperatorTest` that carries out the history of a failure. Pure. */
export function reproductionOf({
  target,
  history,
  failure,
  given,
  apis,
  place,
  definition,
}: Reproduction): JsonObject {
  const name = 'fuzz';
  const { content, actions } = history;
  const steps = [
    { name: 'create', apply: resource(target, name, content) },
    ...actions.flatMap((action, index) =>
      stepOf(action, { target, name, index, disturbance: failure.disturbances.get(index) }),
    ),
    ...(failure.after >= actions.length && actions.length > 0 && endsLater(failure)
      ? [{ name: 'the first content again', apply: resource(target, name, content) }]
      : []),
    ...(failure.rule === 'deletion' || failure.rule === 'nothing-left'
      ? [{ name: 'delete', delete: referenceOf(target, name), within: '15m' }]
      : []),
  ];
  const last = steps.length - 1;
  return {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorTest',
    metadata: { name: `${target.definition.name}-${failure.rule}` },
    spec: {
      definitions: [definition],
      ...(given.length > 0 && { given: given.map((object) => placed(object, place)) }),
      ...(apis.length > 0 && { apis: apis.map(writtenApi) }),
      steps: steps.map((step, index) => ({
        ...(place !== testHub && { cluster: place }),
        ...step,
        expect: index === last ? expectationsOf(failure, target, name) : [],
      })),
    },
  } as unknown as JsonObject;
}

/** As an item of `apis`: the only one needs no name. */
function writtenApi({ name, ...api }: TestHttpApi) {
  return { ...(name !== '' && { name }), ...api };
}

/** As an item of `given`. */
function placed(object: KubeObject, place: string): Readonly<Record<string, unknown>> {
  return place === testHub || isCluster(object) ? { ...object } : { cluster: place, ...object };
}

/** Whether the failure was found after the actions. */
function endsLater({ rule }: FuzzFailure): boolean {
  return rule !== 'idle' && rule !== 'stalled' && rule !== 'flapping' && rule !== 'missing-number';
}

function resource(target: FuzzTarget, name: string, content: Content): Json {
  return resourceOf(target, name, content) as unknown as Json;
}

interface StepContext {
  readonly target: FuzzTarget;
  readonly name: string;
  readonly index: number;
  readonly disturbance: Disturbance | undefined;
}

function stepOf(
  action: Action,
  { target, name, index, disturbance }: StepContext,
): readonly Step[] {
  const title = `${index + 1}: ${titles[action.kind]}`;
  switch (action.kind) {
    case 'edit':
      return [{ name: title, apply: resource(target, name, action.content) }];
    case 'deleteChild':
    case 'changeChild': {
      if (disturbance === undefined) return [];
      const { kind, metadata } = disturbance.child.manifest;
      const path = [
        kind,
        ...(metadata.namespace === undefined ? [] : [metadata.namespace]),
        metadata.name,
      ];
      const reference = path.join('/');
      const { cluster } = disturbance.child;
      const where = cluster === testHub ? {} : { cluster };
      return disturbance.merge === undefined
        ? [{ name: title, ...where, delete: reference }]
        : [{ name: title, ...where, patch: { target: reference, merge: disturbance.merge } }];
    }
    case 'outcome':
      return [{ name: title, outcome: { pods: {}, is: action.is } }];
    case 'fail':
      return [{ name: title, fail: { requests: {}, with: action.with, times: action.times } }];
    case 'restart':
      return [{ name: title, restart: true }];
    case 'advance':
      return [{ name: title, advance: `${action.minutes}m` }];
    case 'outage': {
      const { cluster, minutes } = action;
      return [
        { name: title, clusters: { stop: cluster }, advance: `${minutes}m` },
        {
          name: `${title} has ended`,
          clusters: { start: cluster },
          advance: `${reconnectMinutes}m`,
        },
      ];
    }
  }
}

const titles: Readonly<Record<Action['kind'], string>> = {
  edit: 'edit',
  deleteChild: 'delete a child',
  changeChild: 'change a child',
  outcome: 'Pods',
  fail: 'failing requests',
  restart: 'restart',
  advance: 'wait',
  outage: 'outage of a member',
};

/** `idle`, `second-reconcile` and `error-log` are checked after each step of every test. */
function expectationsOf(
  { rule, expected }: FuzzFailure,
  target: FuzzTarget,
  name: string,
): readonly Json[] {
  if (expected !== undefined) return [expected];
  const of = referenceOf(target, name);
  switch (rule) {
    case 'stalled':
      return [{ condition: { of, type: 'Ready', status: 'True' } }];
    case 'deletion':
    case 'nothing-left':
      return [{ nothingLeft: true }];
    default:
      return [];
  }
}
