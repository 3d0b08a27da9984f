import type { JsonObject } from '../../util/json.ts';
import { objectField, stringField, withField } from '../json-fields.ts';
import type { StoredObject } from '../store/index.ts';
import { partOf } from './controller-world.ts';
import { surgeOf, wantedReplicas } from './deployment-spec.ts';

const revision = 'deployment.kubernetes.io/revision';
const history = 'deployment.kubernetes.io/revision-history';
const desired = 'deployment.kubernetes.io/desired-replicas';
const most = 'deployment.kubernetes.io/max-replicas';

/** Those of a Deployment that its ReplicaSets do not have from it. */
const own = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revision,
  history,
  desired,
  most,
]);

export function revisionOf(object: StoredObject): number {
  return Number(annotation(object, revision) ?? 0);
}

/** How many replicas the Deployment wanted when it last gave this ReplicaSet its share. */
export function desiredOf(set: StoredObject): number | undefined {
  const text = annotation(set, desired);
  return text === undefined ? undefined : Number(text);
}

/** How many pods the Deployment could have then. */
export function mostOf(set: StoredObject): number | undefined {
  const text = annotation(set, most);
  return text === undefined ? undefined : Number(text);
}

/** How many replicas a Deployment wants and how many pods it may have, as its ReplicaSets note it. */
export function sizeAnnotations(deployment: StoredObject): Readonly<Record<string, string>> {
  const wanted = wantedReplicas(deployment);
  return { [desired]: String(wanted), [most]: String(wanted + surgeOf(deployment)) };
}

/** What a ReplicaSet has from its Deployment when it is the newest; of earlier revisions it keeps a list. */
export function newestAnnotations(
  deployment: StoredObject,
  set: StoredObject | undefined,
  number: number,
): JsonObject {
  const annotations = objectField(partOf(deployment, 'metadata'), 'annotations') ?? {};
  const given = Object.fromEntries(Object.entries(annotations).filter(([name]) => !own.has(name)));
  const before = set === undefined ? undefined : annotation(set, revision);
  if (set === undefined || before === undefined || Number(before) >= number)
    return { ...given, ...(before === undefined ? { [revision]: String(number) } : {}) };
  const earlier = annotation(set, history);
  const list = earlier === undefined ? before : `${earlier},${before}`;
  return { ...given, [revision]: String(number), [history]: list };
}

export function revisionAnnotation(number: number): JsonObject {
  return { [revision]: String(number) };
}

/** The object with these annotations beside its own. */
export function withAnnotations(object: JsonObject, annotations: JsonObject): JsonObject {
  const metadata = objectField(object, 'metadata') ?? {};
  const all = { ...objectField(metadata, 'annotations'), ...annotations };
  if (Object.keys(all).length === 0) return object;
  return withField(object, 'metadata', { ...metadata, annotations: all });
}

function annotation(object: StoredObject, name: string): string | undefined {
  return stringField(objectField(partOf(object, 'metadata'), 'annotations') ?? {}, name);
}
