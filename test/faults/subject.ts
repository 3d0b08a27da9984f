import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '#util/kube-object.ts';
import { type PlaneClient, PlaneRequestError } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import type { StateOptions, StateView } from '../support/fault-proxy/cluster-state.ts';

/** What all fault cases run: a read, a list of children and a chain (what the first child answers is in the last). */
export function definitionText(name: string): string {
  return thingDefinition(
    name,
    `  reads:
    - id: settings
      apiVersion: v1
      kind: ConfigMap
      selector: { matchLabels: { settings: shared } }
  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data:
          greeting: \${ spec.greeting }
          setting: \${ $join(reads.settings.data.value, ",") }
    - id: parts
      forEach: \${ spec.parts }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-\${ $item }" }
        data: { part: "\${ $item }" }
    - id: deployment
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: 0
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata:
              labels: { app: "\${ metadata.name }" }
              annotations: { config: "\${ children.config.metadata.uid }" }
            spec: { containers: [{ name: main, image: busybox }] }
  status:
    greeting: \${ children.config.data.greeting }
    setting: \${ children.config.data.setting }
    parts: \${ $count(children.parts) }
`,
  );
}

/** The resources of a run. */
export const names = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Objects per resource, itself included, as {@link resourceOf} makes it. */
export const objectsPerResource = 5;

/** How many watches of which plural the runtime has for this definition: of ConfigMaps its children and its reads. */
export const watchedPlurals = { things: 1, configmaps: 2, deployments: 1 };

/** What the edits give a reason to replace, or to delete. */
export const replacedByEdits: ReadonlySet<string> = new Set([
  'configmaps/c',
  'configmaps/b-x',
  'configmaps/f',
  'configmaps/f-x',
  'configmaps/f-y',
  'deployments/f',
  'things/f',
]);

/** What the runtime itself deletes because of the edits; the rest is the collector's. */
export const deletedByEdits: readonly string[] = ['configmaps/b-x'];

/** Where a script acts. */
export interface Place {
  readonly client: PlaneClient;
  readonly definition: string;
  readonly namespace: string;
}

export function resourceOf(place: Place, name: string, spec: object = {}): KubeObject {
  const whole = { greeting: 'hello', parts: ['x', 'y'], ...spec };
  return thing(place.definition, place.namespace, whole, name);
}

export function pathOfResource({ definition, namespace }: Place, name: string): string {
  return thingPath(definition, namespace, name);
}

export function configMapPath({ namespace }: Place, name: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

export function stateOptions(place: Place): StateOptions {
  return {
    ...place,
    collections: [
      ['/api/v1', 'configmaps'],
      ['/apis/apps/v1', 'deployments'],
      [`/apis/${place.definition}.example.com/v1`, 'things'],
    ],
    reported: ['Thing'],
  };
}

export function settingsOf({ namespace }: Place, value: string): KubeObject {
  const metadata = { name: 'settings', namespace, labels: { settings: 'shared' } };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } };
}

export async function createAll(place: Place): Promise<void> {
  await Promise.all([
    place.client.apply(settingsOf(place, 'one')),
    ...names.map((name) => place.client.apply(resourceOf(place, name))),
  ]);
}

/** Everything that a user may do to a resource, its children and what it reads. */
export async function editAll(place: Place): Promise<void> {
  const { client, namespace } = place;
  const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/d`;
  const edited = { template: { spec: { containers: [{ name: 'main', image: 'nginx' }] } } };
  const withoutLabel = { metadata: { labels: { 'homeostat.dev/owner-uid': null } } };
  await Promise.all([
    client.apply(resourceOf(place, 'a', { greeting: 'good day' })),
    client.apply(resourceOf(place, 'b', { parts: ['y', 'z'] })),
    client.patch(configMapPath(place, 'settings'), { data: { value: 'two' } }),
    client.delete(configMapPath(place, 'c')),
    client.patch(deployment, { spec: edited }),
    client.patch(configMapPath(place, 'e-x'), withoutLabel),
    replaceResource(place, 'f', { greeting: 'again' }),
  ]);
}

/** Another resource of the same name, before the garbage collector has removed what the first one had. */
export async function replaceResource(place: Place, name: string, spec: object): Promise<void> {
  const { client } = place;
  await client.delete(pathOfResource(place, name));
  await client.untilGone(pathOfResource(place, name));
  await client.apply(resourceOf(place, name, spec));
}

/** Applies until a server answers, and serves the kind. */
export async function applyStubbornly(client: PlaneClient, object: KubeObject): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      await client.apply(object);
      return;
    } catch (error) {
      const isRejected = error instanceof PlaneRequestError && error.status < 500;
      const mayPass = !isRejected || [404, 429].includes(error.status);
      if (!mayPass || performance.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

/** Do so many resources say that all is well, for what their users want now? */
export function isSettled({ objects }: Pick<StateView, 'objects'>, count: number): boolean {
  const things = [...objects.values()].filter(({ kind }) => kind === 'Thing');
  return (
    things.length === count &&
    things.every((object) => statusOf(object).observedGeneration === object.metadata.generation) &&
    things.every((object) => conditionOf(object)?.status === 'True')
  );
}
