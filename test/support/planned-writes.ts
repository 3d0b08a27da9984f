import assert from 'node:assert/strict';
import { createDefinitionParser, type LocatedDefinition } from '#definition';
import { type DefinitionPlan, planDefinition } from '#plan';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { childLabel, definitionLabel, recordKeysName } from '#util/stored-names.ts';
import { clockOf, type SharedControlPlane } from './control-plane/index.ts';
import type { TestCluster } from './kube-cluster.ts';
import { freshMetrics, silentLogger } from './silent-telemetry.ts';

/** How long nothing must be sent before it counts as done, in ms. */
const quietMs = 1_000;

/** What is no write of a child: what is reported, and versions, which a plan does not record. */
const leftOut =
  /^(?:operatordefinitions|customresourcedefinitions|events|leases|controllerrevisions|\S+\/.*)$/;

interface PlannedWritesOptions {
  readonly shared: SharedControlPlane;
  readonly kube: TestCluster;
  /** The kind of the resources. */
  readonly kind: string;
  readonly plural: string;
}

/** Compares what `homeostat plan` says with what the runtime then does. */
export class PlannedWrites {
  readonly #options: PlannedWritesOptions;

  constructor(options: PlannedWritesOptions) {
    this.#options = options;
  }

  /**
   * Plans, does it, and compares: all that was planned is done, and what is done beyond that belongs to children that wait in the plan.
   * @param text The definition.
   * @param resources As a user would apply them. Undefined: those of the cluster, as they are.
   */
  async compare(
    text: string,
    resources: readonly KubeObject[] | undefined,
    act: () => Promise<unknown>,
  ): Promise<DefinitionPlan> {
    const { shared, kind } = this.#options;
    await shared.audit.quiet(quietMs);
    const mark = shared.audit.mark();
    const plan = await this.#planOf(text, resources);
    assert.deepEqual(plan.problems, []);
    assert.equal(plan.rejection, undefined);
    const changes = plan.resources
      .flatMap((resource) => resource.changes)
      .filter((change) => change.kind !== kind);
    const planned = new Set<string>();
    for (const { action, ...place } of changes) {
      const target = await this.#targetOf(place);
      if (action !== 'create' && action !== 'change') planned.add(`delete ${target}`);
      if (action !== 'delete') planned.add(`patch ${target}`);
    }
    await act();
    await shared.audit.quiet(quietMs);
    const done = await this.#writesSince(mark, plan.definition);
    const isHeld = plan.heldDeletions !== undefined;
    assert.deepEqual(
      [...planned].filter((each) => !done.has(each) && !(isHeld && each.startsWith('delete '))),
      [],
      'planned, and not done',
    );
    const waiting = new Set(
      plan.resources.flatMap(({ unresolved }) => unresolved.map(({ child }) => child)),
    );
    const unplanned = [...done].filter(
      ([each, child]) => !planned.has(each) && !waiting.has(child),
    );
    assert.deepEqual(unplanned, [], 'done, and not planned');
    return plan;
  }

  #planOf(text: string, resources: readonly KubeObject[] | undefined): Promise<DefinitionPlan> {
    const { shared, kube } = this.#options;
    const options = {
      ...(resources && { resources }),
      cluster: kube.cluster,
      clock: clockOf(shared.plane),
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics: freshMetrics(),
    };
    return planDefinition(locate(text), options, new AbortController().signal);
  }

  /** `deployments default/web` */
  async #targetOf({ apiVersion, kind, namespace = '', name }: PlannedPlace): Promise<string> {
    const metadata = { name, ...(namespace !== '' && { namespace }) };
    const path = await this.#options.shared.client().pathOf({ apiVersion, kind, metadata });
    return `${path.split('/').at(-2)} ${namespace}/${name}`;
  }

  /** The successful writes of a definition's children since a mark, with the id of each child; empty if it is deleted. */
  async #writesSince(since: number, definition: string): Promise<ReadonlyMap<string, string>> {
    const { shared, plural } = this.#options;
    const found = new Map<string, string>();
    for (const entry of shared.audit.writes({ since })) {
      const { verb, resource, namespace, name, status, uri } = entry;
      if (status >= 300 || leftOut.test(resource) || uri.includes('dryRun=All')) continue;
      if (resource === plural || name === recordKeysName) continue;
      const object = await shared.client().get(uri.split('?', 1)[0] ?? '');
      const { [childLabel]: child = '', [definitionLabel]: owner = definition } =
        object?.metadata.labels ?? {};
      // Other definitions may have children for the same event.
      if (owner !== definition) continue;
      found.set(`${verb} ${resource} ${resource === 'namespaces' ? '' : namespace}/${name}`, child);
    }
    return found;
  }
}

interface PlannedPlace {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** The only definition of a text. */
export function locate(text: string): LocatedDefinition {
  const { documents, diagnostics } = createDefinitionParser().parse(text, 'planned.yaml');
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  );
  return documents[0]?.located ?? assert.fail();
}
