import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definesCrd } from '#definition';
import { errorFromResponse } from '#kube/errors.ts';
import { gvkOf } from '#util/gvk.ts';
import { definitionParser } from '../../../../../test/support/definition-parser.ts';
import { FakeClock, settle } from '../../../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../../../test/support/fakes/quiet-cluster.ts';
import { tryConversions } from './try-conversions.ts';

const gvk = gvkOf('a.example.com/v1', 'A');
const [located] = definitionParser.parse(
  `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: mine }
spec:
  crd:
    group: a.example.com
    names: { kind: A, plural: as }
    scope: Namespaced
    versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
`,
  'a.yaml',
).definitions;

/** A cluster that fails each dry run with this message. */
async function tryWith(message: string): Promise<string | undefined> {
  const definition = located?.definition;
  assert.ok(definition && definesCrd(definition));
  const cluster = new QuietCluster([
    { gvk, plural: 'as', namespaced: true, hasStatus: true, verbs: [] },
  ]);
  const dryRunApply = async () => {
    throw errorFromResponse({ status: 500, body: { kind: 'Status', code: 500, message } });
  };
  const context = { definition, cluster: Object.assign(cluster, { dryRunApply }) };
  const trial = tryConversions(
    { ...context, clock: new FakeClock() },
    { kinds: [gvk], forMs: 0 },
    new AbortController().signal,
  );
  cluster.deliver();
  await settle();
  return trial;
}

describe('runtime/crd/conversion/try-conversions', () => {
  test('a conversion webhook that fails is a failed conversion', async () => {
    const problem = await tryWith('conversion webhook for a.example.com/v2, Kind=A failed: EOF');
    assert.equal(problem, 'The conversion webhook of A failed for a.example.com/v2: EOF');
  });

  test('an admission webhook that does not answer is none', async () => {
    const problem = await tryWith(
      'Internal error occurred: failed calling webhook "a.b": failed to call webhook: EOF',
    );
    assert.equal(problem, undefined);
  });
});
