import assert from 'node:assert/strict';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import type { PlaneClient } from './control-plane/index.ts';
import { conditionOf, thing, thingDefinition } from './definitions.ts';

/** A change of a definition that does not get on, of one kind of resources. */
export interface RolloutSubject {
  readonly title: string;
  /** Unique, for names. */
  readonly name: string;
  on(name: string, namespace: string, client: PlaneClient): StuckRollout;
}

type State = 'held' | 'stopped';

const count = 3;
const names = Array.from({ length: count }, (_, index) => `r${index}`);
const states = {
  held: 'a roll-out that is held for deletions',
  stopped: 'a roll-out that is stopped for failures',
} as const;

/** Held for deletions and stopped for failures, of a kind of its own and of a kind of `for`. */
export const rolloutSubjects: readonly RolloutSubject[] = (['held', 'stopped'] as const).flatMap(
  (state) =>
    [true, false].map((isOwnKind) => ({
      title: `${states[state]}, ${isOwnKind ? 'of a kind of its own' : 'of a kind of "for"'},`,
      name: `${state}-${isOwnKind ? 'own' : 'for'}`,
      on: (name: string, namespace: string, client: PlaneClient) =>
        new StuckRollout({ name, namespace, client, state, isOwnKind }),
    })),
);

interface StuckRolloutOptions {
  readonly name: string;
  readonly namespace: string;
  readonly client: PlaneClient;
  readonly state: State;
  readonly isOwnKind: boolean;
}

/** What the status says of a roll-out. */
interface Recorded {
  readonly rollout: Readonly<Record<string, unknown>>;
  /** By name: UID and text of what was made. */
  readonly made: Readonly<Record<string, string>>;
}

/** Three resources with two children each, and a second revision that one of them cannot take or that deletes a child of each. */
export class StuckRollout {
  readonly #options: StuckRolloutOptions;

  constructor(options: StuckRolloutOptions) {
    this.#options = options;
  }

  /** Name of the definition. */
  get path(): string {
    return `/apis/homeostat.dev/v1alpha1/operatordefinitions/${this.#options.name}`;
  }

  /** Of the definition, in YAML. The second version is the one that gets stuck, the third one is right. */
  text(version: 1 | 2 | 3): string {
    const { name, state, isOwnKind } = this.#options;
    const text = isOwnKind ? 'spec.text' : 'data.text';
    const value = state === 'stopped' && version === 2 ? `$number(${text})` : text;
    const hasLost = state === 'stopped' || version === 1;
    const body = `  children:
${child('kept', `${version}: \${ ${value} }`)}${hasLost ? child('lost', 'any') : ''}  controller: { rollout: { perSecond: 0, maxDeletions: 0, stopAfterFailures: 1 } }
`;
    return isOwnKind ? thingDefinition(name, body) : forDefinition(name, body);
  }

  /** Version 1 has reached all resources, and version 2 is wanted. */
  async begin(): Promise<void> {
    await this.#applyDefinition(1);
    const { client } = this.#options;
    await client.untilObject(this.path, (now) => conditionOf(now)?.status === 'True');
    for (const name of names) await this.apply(name, 'one');
    for (const name of names) await this.untilText(name, '1: one');
    await this.#untilLost(count);
    await this.#applyDefinition(2);
  }

  /** A resource. */
  async apply(name: string, text: string): Promise<void> {
    const { name: definition, namespace, client, isOwnKind } = this.#options;
    const configMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels: { 'test/fate': definition } },
      data: { text },
    };
    await client.apply(isOwnKind ? thing(definition, namespace, { text }, name) : configMap);
  }

  /** Resolves when the first child of a resource has that text. */
  async untilText(name: string, text: string): Promise<void> {
    const { namespace, client } = this.#options;
    const path = `/api/v1/namespaces/${namespace}/configmaps/${name}-kept`;
    await client.untilObject(path, (object) => textOf(object) === text);
  }

  async untilStuck(): Promise<Recorded> {
    const { state, client } = this.#options;
    const deletions = state === 'held' ? count : 0;
    const object = await client.untilObject(this.path, (now) => {
      const rollout = rolloutOf(now);
      // They are counted one after the other.
      return rollout?.state === state && rollout.deletions === deletions;
    });
    return { rollout: rolloutOf(object) ?? {}, made: await this.#made() };
  }

  /** Asserts that the next process is at work, and that the roll-out is where it was. */
  async proveStuck(before: Recorded): Promise<void> {
    await this.apply('fresh', '7');
    await this.untilText('fresh', '2: 7');
    const after = await this.untilStuck();
    for (const field of ['from', 'to', 'state', 'deletions', 'failed'])
      assert.deepEqual(after.rollout[field], before.rollout[field], field);
    assert.deepEqual(after.made, before.made);
  }

  /** Does what the status asks for, and resolves when all resources have the change. */
  async proceed(): Promise<void> {
    const { client, state } = this.#options;
    const to = String(rolloutOf(await client.get(this.path))?.to);
    if (state === 'stopped') await this.#applyDefinition(3);
    else
      await client.patch(this.path, {
        metadata: { annotations: { 'homeostat.dev/approve-deletions': to } },
      });
    for (const name of names) await this.untilText(name, `${state === 'stopped' ? 3 : 2}: one`);
    if (state === 'held') await this.#untilLost(0);
    await client.untilObject(this.path, (now) => rolloutOf(now) === undefined);
  }

  /** Deletes the definition. */
  async end(): Promise<void> {
    const { client } = this.#options;
    await client.delete(this.path);
    await client.untilGone(this.path);
  }

  /** Does the object say that its `spec` is not accepted? */
  isRejected(object: KubeObject | undefined): boolean {
    return conditionOf(object, 'Accepted')?.status === 'False';
  }

  async #applyDefinition(version: 1 | 2 | 3): Promise<void> {
    await this.#options.client.apply(parseYaml(this.text(version)) as KubeObject);
  }

  #children(id: string): string {
    const { namespace } = this.#options;
    return `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=${id}`;
  }

  async #untilLost(left: number): Promise<void> {
    const { client } = this.#options;
    await client.untilList(this.#children('lost'), (items) => items.length === left);
  }

  async #made(): Promise<Recorded['made']> {
    const { client } = this.#options;
    const lists = ['kept', 'lost'].map((id) => client.list(this.#children(id)));
    const objects = (await Promise.all(lists)).flat();
    return Object.fromEntries(
      objects
        .filter(({ metadata }) => !metadata.name.startsWith('fresh'))
        .map((object) => [object.metadata.name, `${object.metadata.uid} ${textOf(object)}`]),
    );
  }
}

function child(id: string, text: string): string {
  return `    - id: ${id}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-${id}" }
        data: { text: "${text}" }
`;
}

function forDefinition(name: string, body: string): string {
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  for: { apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { test/fate: ${name} } } }
${body}`;
}

function textOf(object: KubeObject | undefined): string | undefined {
  return (object?.data as { readonly text?: string } | undefined)?.text;
}

function rolloutOf(object: KubeObject | undefined): Readonly<Record<string, unknown>> | undefined {
  return (object?.status as { readonly rollout?: Readonly<Record<string, unknown>> } | undefined)
    ?.rollout;
}
