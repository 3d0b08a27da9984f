import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { InstantVolumes, skipBefore, useControlPlane } from '../support/control-plane/index.ts';
import { createRuntimeNamespace, useRuntimes, webhookFlags } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import {
  applyDiff,
  defaultsSince,
  hasDefaults,
  RecipeKubelet,
  RecipeRun,
  recipeIndex,
  recipePages,
  untilAdmitted,
  untilServed,
  validateCommand,
} from '../support/recipes/index.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
const pages = recipePages();
const definitions = Object.fromEntries(
  pages.map(({ name, definition }) => [`${name}.yaml`, definition]),
);
const update = process.env.HOMEOSTAT_UPDATE_RECIPES === 'true';

shared.describe('integration/recipes', () => {
  let runtime: HomeostatRuntime;

  before(async () => {
    const kubelet = new RecipeKubelet(shared.client());
    const volumes = new InstantVolumes(shared.client());
    kubelet.start();
    volumes.start('default');
    shared.onEnd(() => Promise.all([kubelet.stop(), volumes.stop()]));
    await createRuntimeNamespace(shared);
    runtime = launch({ definitions, flags: await webhookFlags() });
    await runtime.whenReady(pages.length);
    // The garbage collector looks for new kinds every 30 s only.
    await shared.plane.restartControllerManager();
  });

  test('the index lists every recipe', () => {
    const listed = [...recipeIndex().matchAll(/\]\(([a-z-]+)\.md\)/g)].map(([, name]) => name);
    assert.deepEqual(
      listed.toSorted(),
      pages.map(({ name }) => name),
    );
  });

  test('definitions are valid, without a warning', () => assertValid(definitions));

  // Those of one round are checked together, which is faster; two texts of one definition would be in conflict.
  for (
    let round = 0;
    round < Math.max(...pages.map(({ variations }) => variations.length));
    round++
  )
    test(`variations are valid, without a warning: number ${round + 1} of each recipe`, async () => {
      const changed = pages.flatMap(({ name, definition, variations }) => {
        const diff = variations[round];
        return diff === undefined ? [] : [[`${name}.yaml`, applyDiff(definition, diff.text)]];
      });
      await assertValid(Object.fromEntries(changed));
    });

  describe('the harness is as the page shows it, step by step', () => {
    for (const page of pages) {
      // Its table of Jobs has the column STATUS, which servers print since 1.30.
      const hasJobs = [...page.steps, ...page.mistake].some(({ text }) =>
        /^NAME +STATUS +COMPLETIONS/m.test(text),
      );
      const isOlder =
        (hasJobs && skipBefore('1.30')) || (hasDefaults(page) && skipBefore(defaultsSince));
      test(`${page.name}: ${page.title}`, { skip: isOlder }, async () => {
        await untilServed(shared, page);
        await untilAdmitted(shared, page);
        await new RecipeRun({ shared, runtime, page, update }).run();
      });
    }
  });
});

async function assertValid(texts: Readonly<Record<string, string>>): Promise<void> {
  const lines = await validateCommand(texts);
  const valid = /^([a-z-]+\.yaml): definition "[a-z-]+" is valid \(revision [0-9a-f]{10}\)$/;
  // Nothing else is printed: whatever else there is shows what is wrong.
  assert.deepEqual(
    lines.filter((line) => !valid.test(line)),
    [],
  );
  assert.deepEqual(
    lines.map((line) => valid.exec(line)?.[1]).toSorted(),
    Object.keys(texts).toSorted(),
  );
}
