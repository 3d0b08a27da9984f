import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definesCrd } from '#definition';
import { type ApplyResult, KubeError } from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';
import { preservedAnnotation } from '#util/stored-names.ts';
import { serverError, webhookError } from '../../../../../test/support/conversion/server-error.ts';
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

interface Trial {
  /** Resources of the kind. @default none */
  readonly resources?: readonly ObjectMeta[];
  /** Of each dry run. @default it succeeds */
  readonly failure?: KubeError;
  /** Why the kind cannot be listed. */
  readonly listFailure?: KubeError;
  readonly forMs?: number;
}

/** Tries conversions; `dryRuns` are the names of the resources that were written in dry runs. */
function begin({ resources = [], failure, listFailure, forMs = 0 }: Trial) {
  const definition = located?.definition;
  assert.ok(definition && definesCrd(definition));
  const cluster = new QuietCluster([
    { gvk, plural: 'as', namespaced: true, hasStatus: true, verbs: [] },
  ]);
  for (const metadata of resources)
    cluster.server.put({ apiVersion: 'a.example.com/v1', kind: 'A', metadata });
  if (listFailure !== undefined) cluster.block('A', listFailure);
  const dryRuns: string[] = [];
  const dryRunApply = async ({ metadata }: KubeObject) => {
    dryRuns.push(`${metadata.namespace}/${metadata.name}`);
    if (failure !== undefined) throw failure;
    return {} as ApplyResult;
  };
  const clock = new FakeClock();
  const context = { definition, cluster: Object.assign(cluster, { dryRunApply }), clock };
  const ended = tryConversions(
    { ...context, namespace: 'system' },
    { kinds: [gvk], forMs },
    new AbortController().signal,
  );
  cluster.deliver();
  return { cluster, clock, dryRuns, ended };
}

/** A cluster that fails each dry run with this message. */
async function tryWith(message: string): Promise<string | undefined> {
  const { ended } = begin({ failure: serverError(message) });
  await settle();
  return ended;
}

const inDefault = (name: string, more: Partial<ObjectMeta> = {}): ObjectMeta => ({
  name,
  namespace: 'default',
  ...more,
});

describe('runtime/crd/conversion/try-conversions', () => {
  test('a conversion webhook that fails is a failed conversion', async () => {
    const problem = await tryWith('conversion webhook for a.example.com/v2, Kind=A failed: EOF');
    assert.equal(problem, 'The conversion webhook of A failed for a.example.com/v2: EOF');
  });

  test('an object that does not fit into a version is none: the webhook answers', async () => {
    const problem = await tryWith(
      `conversion webhook for a.example.com/v2, Kind=A failed: Version "v1" cannot express all fields: they do not fit into annotations (${preservedAnnotation}). Write it in the version that has all fields`,
    );
    assert.equal(problem, undefined);
  });

  test('an admission webhook that does not answer is none', async () => {
    const problem = await tryWith(
      'Internal error occurred: failed calling webhook "a.b": failed to call webhook: EOF',
    );
    assert.equal(problem, undefined);
  });

  test('without resources one attempt is enough, in the namespace of the runtime', async () => {
    const { ended, dryRuns } = begin({ forMs: 30_000 });
    assert.equal(await ended, undefined);
    assert.deepEqual(dryRuns, ['system/homeostat-conversion-trial']);
  });

  test('resources are tried one after the other until the time is over', async () => {
    const resources = [inDefault('a'), inDefault('b')];
    const { ended, dryRuns, clock } = begin({ resources, forMs: 2_500 });
    await clock.advance(3_000);
    assert.equal(await ended, undefined);
    assert.deepEqual(dryRuns, ['default/a', 'default/b', 'default/a', 'default/b']);
  });

  test('a resource that lacks fields in this version is read only', async () => {
    const annotations = { [preservedAnnotation]: 'incomplete' };
    const { ended, dryRuns, cluster } = begin({ resources: [inDefault('a', { annotations })] });
    assert.equal(await ended, undefined);
    assert.deepEqual(dryRuns, []);
    assert.deepEqual(
      cluster.requests.map(({ verb, name }) => `${verb} ${name}`),
      ['get a'],
    );
  });

  test('a list that cannot be converted is a failed conversion', async () => {
    const { ended } = begin({ listFailure: webhookError });
    assert.match((await ended) ?? '', /The conversion webhook of A failed/);
  });

  test('a resource that is invalid, or was just deleted, is no failed conversion', async () => {
    for (const code of ['rejected', 'not-found'] as const) {
      const failure = new KubeError(code, code, { status: 422 });
      assert.equal(await begin({ resources: [inDefault('a')], failure }).ended, undefined);
    }
  });

  for (const where of ['failure', 'listFailure'] as const)
    test(`an API server that does not answer decides nothing (${where})`, async () => {
      const error = new KubeError('unavailable', 'no answer', { status: 0 });
      const { ended } = begin({ [where]: error });
      await assert.rejects(ended, error);
    });
});
