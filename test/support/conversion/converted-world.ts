import assert from 'node:assert/strict';
import { definesCrd, type OperatorDefinition } from '#definition';
import type { ApplyResult, KubeError, ResourceType } from '#kube/roles.ts';
import { settled } from '#reconcile';
import { deepEqual } from '#util/deep-equal.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { ConversionTarget } from '../../../src/engine/runtime/crd/conversion/conversion-target.ts';
import { clientConfigOf } from '../../../src/engine/runtime/crd/conversion/crd-parts.ts';
import { installConverted } from '../../../src/engine/runtime/crd/conversion/install-converted.ts';
import { acquireCrd, crdGvk } from '../../../src/engine/runtime/crd/crd-definition.ts';
import { definitionParser } from '../definition-parser.ts';
import { FakeClock } from '../fake-clock.ts';
import { QuietCluster } from '../fakes/quiet-cluster.ts';

const schema = 'schema: { openAPIV3Schema: { type: object } }';

/** A definition of kind A with the versions v1, its hub, and v2. */
export function convertedDefinition({ storage = 'v1' } = {}) {
  const version = (name: string) =>
    `- { name: ${name}, served: true, storage: ${name === storage}, ${schema} }`;
  const [located] = definitionParser.parse(
    `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: mine }
spec:
  crd:
    group: a.example.com
    names: { kind: A, plural: as }
    scope: Namespaced
    versions:
      ${version('v1')}
      ${version('v2')}
  conversions:
    hub: v1
    versions: [{ version: v2 }]
`,
    'a.yaml',
  ).definitions;
  return located ?? assert.fail();
}

const typeOf = (gvk: ResourceType['gvk'], plural: string, namespaced = true): ResourceType => ({
  ...{ gvk, plural, namespaced, hasStatus: true, verbs: [] },
});
export const convertedTypes = [
  typeOf(crdGvk, 'customresourcedefinitions', false),
  typeOf(gvkOf('a.example.com/v1', 'A'), 'as'),
  typeOf(gvkOf('a.example.com/v2', 'A'), 'as'),
  typeOf(gvkOf('v1', 'Secret'), 'secrets'),
  typeOf(gvkOf('v1', 'Namespace'), 'namespaces', false),
];

/** An API server without schemas, on which the CRD of a definition with `conversions` is installed. */
export class ConvertedWorld {
  readonly cluster = new QuietCluster(convertedTypes);
  readonly clock = new FakeClock();
  /** Of dry runs, by the address of the webhook. @default they succeed */
  failure: (url: unknown) => KubeError | undefined = () => undefined;
  /** Where the CRD sent objects after each write. */
  readonly written: unknown[] = [];
  readonly #definition: OperatorDefinition;

  constructor(definition: OperatorDefinition, live: KubeObject) {
    this.#definition = definition;
    this.#put(live);
  }

  get live(): KubeObject {
    return this.cluster.server.get(crdGvk, undefined, 'as.a.example.com')?.object ?? assert.fail();
  }

  async install(target: ConversionTarget | undefined) {
    const definition = this.#definition;
    assert.ok(definesCrd(definition) && definition.conversions);
    const { cluster, clock } = this;
    const dryRunApply = async () => {
      const failure = this.failure(clientConfigOf(this.live)?.url);
      if (failure !== undefined) throw failure;
      return {} as ApplyResult;
    };
    const crds = acquireCrd(cluster, definition.kind.crd.metadata.name);
    const { signal } = new AbortController();
    await settled(crds, signal);
    const write = async (shape: (crd: KubeObject, live: KubeObject) => KubeObject) => {
      const { live } = this;
      const next = shape(definition.kind.crd, live);
      if (deepEqual([next.spec, next.metadata.annotations], [live.spec, live.metadata.annotations]))
        return undefined;
      this.#put(next);
      this.written.push(clientConfigOf(next)?.url);
      return undefined;
    };
    let isOver = false;
    const installing = installConverted(
      {
        ...{ definition, clock, crds, conversion: target, apply: write, restore: write },
        cluster: Object.assign(cluster, { dryRunApply }),
      },
      definition.conversions,
      signal,
    ).finally(() => {
      isOver = true;
    });
    installing.catch(() => {});
    while (!isOver) {
      cluster.deliver();
      await clock.advance(100);
    }
    crds.release();
    return installing;
  }

  #put(object: KubeObject): void {
    const conditions = ['Established', 'NamesAccepted'].map((type) => ({ type, status: 'True' }));
    this.cluster.server.put({ ...object, status: { conditions, storedVersions: ['v1'] } });
    this.cluster.deliver();
  }
}
