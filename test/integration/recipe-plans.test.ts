import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { parseObjects } from '#dev/samples.ts';
import { userManager } from '#plan/planned-changes.ts';
import { gvkOf } from '#util/gvk.ts';
import { InstantVolumes, skipBefore, useControlPlane } from '../support/control-plane/index.ts';
import { createRuntimeNamespace, useRuntimes, webhookFlags } from '../support/homeostat.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { locate, PlannedWrites } from '../support/planned-writes.ts';
import {
  defaultsSince,
  hasDefaults,
  RecipeKubelet,
  type RecipePage,
  recipePages,
  untilAdmitted,
  untilServed,
} from '../support/recipes/index.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
const pages = recipePages();

/** Recipes whose plan cannot be compared, with the reason. The list may only shrink. */
const notComparable: Readonly<Record<string, string>> = {};

shared.describe('integration/recipe-plans', () => {
  const kube = useKubeCluster(shared);
  let volumes: InstantVolumes;

  before(async () => {
    const kubelet = new RecipeKubelet(shared.client());
    volumes = new InstantVolumes(shared.client());
    kubelet.start();
    shared.onEnd(() => Promise.all([kubelet.stop(), volumes.stop()]));
    await createRuntimeNamespace(shared);
    const definitions = Object.fromEntries(
      pages.map(({ name, definition }) => [`${name}.yaml`, definition]),
    );
    const runtime = launch({ definitions, flags: await webhookFlags() });
    await runtime.whenReady(pages.length);
  });

  test('every recipe that is left out exists', () => {
    const names = pages.map(({ name }) => name);
    assert.deepEqual(
      Object.keys(notComparable).filter((name) => !names.includes(name)),
      [],
    );
  });

  describe('what is planned for a resource is what is then done', () => {
    for (const page of pages)
      test(
        `${page.name}: ${page.title}`,
        { skip: notComparable[page.name] ?? (hasDefaults(page) && skipBefore(defaultsSince)) },
        () => comparePlans(page),
      );
  });

  /** Applies the sample of a recipe in a namespace of its own; each of its resources is planned before. */
  async function comparePlans(page: RecipePage): Promise<void> {
    const { definition, sample } = page;
    await untilServed(shared, page);
    await untilAdmitted(shared, page);
    const client = shared.client();
    const home = await shared.namespace();
    volumes.start(home);
    const { kind, name } = locate(definition).definition;
    const { group, kind: kindName } = kind.gvk;
    let resources = 0;
    for (const written of parseObjects(sample)) {
      const probe = { ...written, metadata: { namespace: home, ...written.metadata } };
      const path = await client.pathOf(probe);
      const object =
        path.includes('/namespaces/') && written.kind !== 'Namespace' ? probe : written;
      const apply = () => client.apply(object, { fieldManager: userManager });
      if (object.kind !== kindName || gvkOf(object.apiVersion, kindName).group !== group) {
        await apply();
        continue;
      }
      resources += 1;
      const plural = path.split('/').at(-2) ?? '';
      const writes = new PlannedWrites({ shared, kube, kind: kindName, plural });
      await writes.compare(definition, [object], apply);
    }
    assert.ok(resources > 0, `The sample has no resource of definition "${name}"`);
  }
});
