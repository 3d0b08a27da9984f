import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDefinitionParser } from '#definition';
import { planDefinition } from '#plan';
import { createRuleEvaluator } from '#sandbox';
import { createSystemRandom } from '#util/random.ts';
import { bindingPath, keepRule, policyPath, ruled, smallRule } from '../support/admission.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import { useDefinitionObjects } from '../support/definition-objects.ts';
import { thing } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
const parser = createDefinitionParser();

/** A rule that only a request can break. */
const mine = `
      - rule: "request.userInfo.username != 'none'"
        message: Not by you`;

shared.describe('integration/plan-admission', () => {
  const { apply, untilReady } = useDefinitionObjects(shared, launch);

  const kube = useKubeCluster(shared);

  function planned(text: string) {
    const [located] = parser
      .parse(text, 'thing.yaml')
      .documents.flatMap((each) => each.located ?? []);
    assert.ok(located);
    const options = {
      cluster: kube.cluster,
      clock: clockOf(shared.plane),
      random: createSystemRandom(),
      metrics: freshMetrics(),
      logger: silentLogger(),
      createRuleEvaluator,
    };
    return planDefinition(located, options, new AbortController().signal);
  }

  test('the objects that break a new rule are listed, up to a limit and with their number, and nothing is sent for them', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('checked', ''));
    await untilReady('checked');
    for (let index = 0; index < 23; index += 1)
      await shared
        .client()
        .apply(thing('checked', namespace, { size: 20 }, `big-${String(index).padStart(2, '0')}`));
    await shared.client().apply(thing('checked', namespace, { size: 1 }, 'small'));
    const since = shared.audit.mark();
    const { brokenRules } = await planned(ruled('checked', `${smallRule}${keepRule}${mine}`));
    assert.equal(brokenRules?.count, 23);
    assert.equal(brokenRules?.objects.length, 20);
    assert.deepEqual(brokenRules?.objects[0], {
      kind: 'Thing',
      namespace,
      name: 'big-00',
      message: 'spec.size: More than 10 need the label "big"',
    });
    assert.deepEqual(brokenRules?.unchecked, ['Not by you']);
    await shared.audit.quiet(1_000);
    const sent = shared.audit
      .entries({ user: 'admin', since, everything: true })
      .filter(({ resource }) => resource.startsWith('things'));
    assert.deepEqual(
      sent.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb)),
      [],
    );
    assert.ok(sent.some(({ verb }) => verb === 'list'));
  });

  test('what the cluster enforces already is not listed, a stricter rule or action is', async () => {
    const namespace = await shared.namespace();
    await apply(ruled('known', ''));
    await untilReady('known');
    await shared.client().apply(thing('known', namespace, { size: 20 }));
    await apply(ruled('known', smallRule, { admission: '    action: Warn\n' }));
    for (const path of [policyPath('known'), bindingPath('known')])
      await shared.client().untilObject(path, (each) => each !== undefined);
    const same = await planned(ruled('known', smallRule, { admission: '    action: Warn\n' }));
    assert.equal(same.brokenRules, undefined);
    const denied = await planned(ruled('known', smallRule));
    assert.equal(denied.brokenRules?.count, 1);
    const stricter = smallRule.replace('<= 10', '<= 5');
    const changed = await planned(ruled('known', stricter, { admission: '    action: Warn\n' }));
    assert.equal(changed.brokenRules?.count, 1);
    const looser = smallRule.replace('<= 10', '<= 50');
    assert.equal((await planned(ruled('known', looser))).brokenRules, undefined);
  });
});
