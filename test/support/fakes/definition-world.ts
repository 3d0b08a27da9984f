import assert from 'node:assert/strict';
import type { LocatedDefinition } from '../../../src/definition/index.ts';
import type { ResourceType } from '../../../src/kube/roles.ts';
import type { DefinitionView, WantedSet } from '../../../src/runtime/index.ts';
import {
  createDefinitionObjects,
  type DefinitionObjects,
  type DefinitionObjectsOptions,
  definitionGvk,
  definitionsLabel,
} from '../../../src/runtime/objects/index.ts';
import { createLogger } from '../../../src/telemetry/index.ts';
import { gvkOf } from '../../../src/util/gvk.ts';
import type { KubeObject } from '../../../src/util/kube-object.ts';
import { definitionParser } from '../definition-parser.ts';
import { thingDefinition } from '../definitions.ts';
import { FakeClock, settle } from '../fake-clock.ts';
import { freshMetrics } from '../silent-telemetry.ts';
import { QuietCluster } from './quiet-cluster.ts';

const crdGvk = gvkOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
const configMapGvk = gvkOf('v1', 'ConfigMap');
const clusterScoped = { namespaced: false, hasStatus: true, verbs: [] };

/** With the kinds that the runtime needs. `more`: besides those. */
export class RuntimeFakeCluster extends QuietCluster {
  constructor(more: readonly ResourceType[] = []) {
    super([
      { gvk: crdGvk, plural: 'customresourcedefinitions', ...clusterScoped },
      { gvk: definitionGvk, plural: 'operatordefinitions', ...clusterScoped },
      { gvk: configMapGvk, plural: 'configmaps', ...clusterScoped, namespaced: true },
      {
        gvk: gvkOf('apps/v1', 'ControllerRevision'),
        plural: 'controllerrevisions',
        ...clusterScoped,
        namespaced: true,
      },
      ...more,
    ]);
  }
}

/** A definition of its own group; another `body` is another revision. */
export function locatedThing(name: string, body = ''): LocatedDefinition {
  const text = thingDefinition(name, body);
  const [definition] = definitionParser.parse(text, `${name}.yaml`).definitions;
  assert.ok(definition, text);
  return definition;
}

/** Where a definition stands that runs as it should. */
export function runningView(
  located: LocatedDefinition,
  changes: Partial<DefinitionView> = {},
): DefinitionView {
  const { name, revision, kind } = located.definition;
  return {
    name,
    revision,
    apiVersion: `${kind.gvk.group}/${kind.gvk.version}`,
    kind: kind.gvk.kind,
    state: { kind: 'running' },
    instances: 0,
    readyInstances: 0,
    leftInPlace: 0,
    queued: 0,
    problems: [],
    ...changes,
  };
}

/** The objects of definitions on a fake cluster; sources and manager are played by the test. */
export class DefinitionWorld {
  readonly cluster: RuntimeFakeCluster;
  readonly clock = new FakeClock();
  readonly metrics = freshMetrics();
  readonly log: { readonly level: string; readonly msg: string }[] = [];
  views: readonly DefinitionView[] = [];
  readonly objects: DefinitionObjects;
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(
    options: Partial<DefinitionObjectsOptions> & { readonly cluster?: RuntimeFakeCluster } = {},
  ) {
    this.cluster = options.cluster ?? new RuntimeFakeCluster();
    this.objects = createDefinitionObjects({
      cluster: this.cluster,
      clock: this.clock,
      logger: createLogger({
        level: 'info',
        destination: { write: (line) => void this.log.push(JSON.parse(line)) },
      }),
      metrics: this.metrics,
      views: () => this.views,
      definitionsNamespace: 'homeostat-system',
      ...options,
    });
  }

  /** A labelled ConfigMap in the namespace of definitions. */
  configMap(name: string): KubeObject {
    return this.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'homeostat-system', labels: { [definitionsLabel]: 'true' } },
    }).object;
  }

  async start(): Promise<void> {
    this.#ended = this.objects.run(this.#stop.signal);
    await this.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** What the sources and the manager say from now on. */
  async show(wanted: WantedSet, views: readonly DefinitionView[] = []): Promise<void> {
    this.views = views;
    this.objects.show(wanted);
    await this.settle();
  }

  /** What the manager says from now on. */
  async see(views: readonly DefinitionView[]): Promise<void> {
    this.views = views;
    this.objects.viewsChanged();
    await this.clock.advance(200);
    await this.settle();
  }

  async settle(): Promise<void> {
    do await settle();
    while (this.cluster.deliver());
    await settle();
  }

  object(name: string): KubeObject | undefined {
    return this.cluster.server.get(definitionGvk, undefined, name)?.object;
  }

  /** A condition as `status reason: message`. */
  condition(name: string, type: string): string {
    const status = this.object(name)?.status as
      | { conditions?: readonly Readonly<Record<string, string>>[] }
      | undefined;
    const condition = status?.conditions?.find((each) => each.type === type);
    return condition === undefined
      ? 'none'
      : `${condition.status} ${condition.reason}: ${condition.message}`;
  }

  /** Events as `Kind/name reason`, oldest first, since the last call. */
  takeEvents(): readonly string[] {
    return this.cluster.told
      .splice(0)
      .map(({ regarding: { kind, metadata }, reason }) => `${kind}/${metadata.name} ${reason}`);
  }
}
