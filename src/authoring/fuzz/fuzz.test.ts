import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkDefinitions, createManifestCheck } from '#check';
import { bundledSchemas } from '#compile';
import { createOperatorTestParser, printOrderedYaml } from '#definition';
import { withMembers } from '#simulation/members/cluster-object.ts';
import { runTest } from '#testing/run-test.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type FuzzOptions, type FuzzResult, fuzz } from './fuzz.ts';
import { fuzzTarget } from './fuzz-target.ts';
import { reproductionOf } from './reproduction.ts';

const check = createManifestCheck(bundledSchemas());

/** A kind with a Deployment, a ConfigMap and a count. */
const healthy = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: app }
spec:
  crd:
    group: example.com
    names: { kind: App, plural: apps }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec:
                type: object
                properties:
                  size: { type: integer, minimum: 0, maximum: 3, default: 1 }
                  mode: { type: string, enum: [a, b] }
                  host: { type: string }
              status:
                type: object
                properties:
                  ready: { type: integer }
  children:
    - id: deployment
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: \${ spec.size }
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata: { labels: { app: "\${ metadata.name }" } }
            spec: { containers: [{ name: main, image: nginx }] }
    - id: config
      when: \${ $exists(spec.host) }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { host: "\${ spec.host }" }
  status:
    ready: \${ children.deployment.status.readyReplicas ?? 0 }
`;

function optionsFor(text: string, extra: Partial<FuzzOptions> = {}): FuzzOptions {
  const definitions = [{ file: 'app.yaml', text }];
  const { accepted, diagnostics } = checkDefinitions(definitions, {
    schemas: bundledSchemas(),
    check,
  });
  const [checked] = accepted;
  assert.ok(checked, JSON.stringify(diagnostics));
  const target = fuzzTarget(checked.located, []);
  return {
    definitions,
    check,
    target,
    ...withMembers(checked.located.definition, []),
    samples: [],
    apis: [],
    values: {},
    runs: 40,
    seed: 1,
    ...extra,
  };
}

/** The healthy definition with a mistake. */
function withMistake(from: string, to: string): FuzzOptions {
  const text = healthy.replace(from, to);
  assert.notEqual(text, healthy);
  return optionsFor(text);
}

async function failureOf(options: FuzzOptions) {
  const { failure } = await fuzz(options);
  assert.ok(failure, 'the mistake is not found');
  return failure;
}

/** Runs the test that is printed for a failure. */
async function runReproduction(
  options: FuzzOptions,
  failure: NonNullable<FuzzResult['failure']>,
): Promise<readonly string[]> {
  const { target, definitions, place } = options;
  const given = options.given.filter(({ kind }) => kind === 'Cluster');
  const document = reproductionOf({
    apis: [],
    target,
    failure,
    history: failure.history,
    given,
    place,
    definition: 'app.yaml',
  });
  const { tests, diagnostics } = createOperatorTestParser().parse(printOrderedYaml(document), 'x');
  assert.deepEqual(diagnostics, []);
  const [test] = tests;
  assert.ok(test);
  const load = { loadDefinitions: async () => definitions, loadObjects: async () => [] };
  const { failures } = await runTest(test, { definitions, ...load });
  return failures.map(({ message }) => message);
}

describe('simulation/fuzz', () => {
  test('a Job that has run is not missed when it is deleted', async () => {
    const job = `    - id: job
      template:
        apiVersion: batch/v1
        kind: Job
        metadata: { name: "\${ metadata.name }" }
        spec:
          ttlSecondsAfterFinished: 86400
          template:
            spec: { restartPolicy: Never, containers: [{ name: main, image: busybox }] }
`;
    const { failure } = await fuzz(
      optionsFor(healthy.replace('  status:\n    ready', `${job}  status:\n    ready`), {
        runs: 10,
      }),
    );
    assert.equal(failure, undefined, failure?.message);
  });

  test('a healthy definition passes all histories', async () => {
    const { runs, failure } = await fuzz(optionsFor(healthy));
    assert.equal(failure, undefined, JSON.stringify(failure));
    assert.equal(runs, 40);
  });

  test('a resource that the server rejects is replaced by another one', async () => {
    const text = healthy.replace(
      'host: { type: string }',
      'host: { type: string }\n                x-kubernetes-validations: [{ rule: "!has(self.host) || self.size > 1" }]',
    );
    const { runs, rejected, failure } = await fuzz(optionsFor(text));
    assert.equal(failure, undefined, JSON.stringify(failure));
    assert.ok(rejected > 5, `${rejected} were rejected`);
    assert.equal(runs - rejected, 40);
  });

  test('where all are rejected, the last message is known', async () => {
    const text = healthy.replace(
      'host: { type: string }',
      'host: { type: string }\n                x-kubernetes-validations: [{ rule: "false", message: never }]',
    );
    const result = await fuzz(optionsFor(text, { runs: 5, values: { '/spec': [{ size: 1 }] } }));
    assert.equal(result.rejected, result.runs);
    assert.match(result.rejection ?? '', /never/);
  });

  test('what a schedule does while the operators restart is no second reconcile', async () => {
    const job =
      'jobTemplate: { spec: { template: { spec: { restartPolicy: Never, containers: [{ name: a, image: a }] } } } }';
    const options = withMistake(
      '    - id: config',
      `    - id: cron
      template:
        apiVersion: batch/v1
        kind: CronJob
        metadata: { name: "\${ metadata.name }" }
        spec: { schedule: "*/2 * * * *", ${job} }
    - id: config`,
    );
    const text = options.definitions[0]?.text
      .replace('ready: { type: integer }', 'ready: { type: string }')
      .replace(/ready: \$.*/, 'ready: ${ children.cron.status.lastSuccessfulTime }');
    const { failure } = await fuzz({ ...optionsFor(text ?? ''), runs: 10 });
    assert.equal(failure, undefined, JSON.stringify(failure));
  });

  test('that time has passed is no second reconcile', async () => {
    const text = healthy
      .replace('ready: { type: integer }', 'ready: { type: boolean }')
      .replace(
        /ready: \$.*/,
        'ready: "${ $millis() > $toMillis(metadata.creationTimestamp) + 240000 }"',
      )
      .replace('  status:\n    ready', '  schedule: { every: 30m }\n  status:\n    ready');
    const { failure } = await fuzz({ ...optionsFor(text), runs: 15 });
    assert.equal(failure, undefined, JSON.stringify(failure));
  });

  test('a resource that deletes itself passes all histories', async () => {
    const expiring = healthy.replace(
      '  children:\n',
      '  deleteAfter: { since: "${ metadata.creationTimestamp }", ttl: 1s }\n  children:\n',
    );
    const { failure } = await fuzz(optionsFor(expiring));
    assert.equal(failure, undefined);
  });

  test('a resource with patches of its deletion passes all histories', async () => {
    const patch = (id: string, more: string) => `
    - id: ${id}
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, name: ${id} }
      ${more}`;
    const text = `${healthy}  patches:${patch(
      'ledger',
      'create: true\n      patch: { data: { "${ metadata.name }": "${ $string(children.deployment.spec.replicas) }" } }',
    )}${patch('missing', 'patch: { data: { a: b } }')}${patch('cache', 'delete: true')}
`;
    for (const seed of [1, 2]) {
      const { runs, failure } = await fuzz(optionsFor(text, { runs: 50, seed }));
      assert.equal(failure, undefined, JSON.stringify(failure));
      assert.equal(runs, 50);
    }
  });

  test('a patch of the deletion that cannot be rendered is found', async () => {
    const text = `${healthy}  patches:
    - id: ledger
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, name: ledger }
      create: true
      patch: { data: { size: "\${ $string($number(metadata.name)) }" } }
`;
    const failure = await failureOf(optionsFor(text));
    assert.equal(failure.rule, 'deletion');
  });

  test('a resource whose deletion is held does not disturb the histories after it', async () => {
    // The names of two resources would conflict.
    const text = healthy
      .replaceAll('metadata: { name: "${ metadata.name }" }', 'metadata: { name: shared }')
      .replace('- id: deployment\n', '- id: deployment\n      deleteWhen: false\n');
    const options = optionsFor(text);
    const target = { ...options.target, skip: new Set(['deletion'] as const) };
    const { runs, failure } = await fuzz({ ...options, target, runs: 5 });
    assert.equal(failure, undefined, JSON.stringify(failure));
    assert.equal(runs, 5);
  });

  test('a status that changes back and forth is found with the smallest resource', async () => {
    const options = withMistake(
      'ready: ${ children.deployment.status.readyReplicas ?? 0 }',
      "ready: '${ status.ready = 1 ? 2 : 1 }'",
    );
    const failure = await failureOf(options);
    assert.match(failure.rule, /^(?:flapping|idle|second-reconcile)$/);
    assert.deepEqual(failure.history.actions, []);
    assert.match(
      (await runReproduction(options, failure)).join(),
      /do not become idle|writes again/,
    );
  });

  test('a name that differs in each reconcile is found', async () => {
    const failure = await failureOf(
      withMistake(
        'kind: ConfigMap\n        metadata: { name: "${ metadata.name }" }',
        'kind: ConfigMap\n        metadata: { name: "${ metadata.name }-${ metadata.resourceVersion }" }',
      ),
    );
    assert.match(failure.rule, /^(?:idle|second-reconcile)$/);
    assert.deepEqual(failure.history, { content: { spec: { host: 'a' } }, actions: [] });
  });

  test('a count that is missing while it is zero is found', async () => {
    const options = withMistake(' ?? 0 }', ' }');
    const failure = await failureOf(options);
    assert.equal(failure.rule, 'missing-number');
    assert.match(failure.message, /no "ready", though child "deployment" exists/);
    assert.deepEqual(failure.history, { content: { spec: { size: 0 } }, actions: [] });
    assert.match((await runReproduction(options, failure)).join(), /Status of App\/fuzz/);
  });

  test('a child that blocks the deletion is found', async () => {
    const options = withMistake(
      'kind: ConfigMap\n        metadata: { name: "${ metadata.name }" }',
      'kind: ConfigMap\n        metadata: { name: "${ metadata.name }", finalizers: [example.com/keep] }',
    );
    const failure = await failureOf(options);
    assert.match(failure.rule, /^(?:deletion|nothing-left)$/);
    assert.deepEqual(failure.history, { content: { spec: { host: 'a' } }, actions: [] });
    assert.match((await runReproduction(options, failure)).join(), /left|exists/);
  });

  test('a value that the API server rejects in a child is found', async () => {
    const options = withMistake(
      'data: { host: "${ spec.host }" }',
      'data: { "${ spec.host }": x }',
    );
    const { failure } = await fuzz({ ...options, values: { '/spec/host': ['ok', 'not ok'] } });
    assert.equal(failure?.rule, 'stalled');
    assert.deepEqual(failure?.history, { content: { spec: { host: 'not ok' } }, actions: [] });
    assert.match((await runReproduction(options, failure)).join(), /Ready/);
  });

  test('a state that cannot be left again is found', async () => {
    const options = withMistake(
      'data: { host: "${ spec.host }" }',
      'data: { host: "${ spec.host }", seen: "${ $string(metadata.generation) }" }',
    );
    const failure = await failureOf(options);
    assert.equal(failure.rule, 'reverse-edit');
    assert.match(failure.message, /"data\.seen" of .*configmaps\/fuzz differs/);
    assert.match((await runReproduction(options, failure)).join(), /ConfigMap "fuzz"/);
  });

  test('the same seed gives the same failure, and samples give values', async () => {
    const options = withMistake(' ?? 0 }', ' }');
    const sample = {
      apiVersion: 'example.com/v1',
      kind: 'App',
      metadata: { name: 's' },
      spec: { size: 0 },
    };
    const again = { ...options, samples: [sample as unknown as KubeObject], runs: 20, seed: 5 };
    assert.deepEqual(await fuzz(again), await fuzz(again));
  });

  const inEach = [
    '  reads:',
    '    - { id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: { matchLabels: { app: "true" } } }',
    '  children:',
  ];
  const placed = healthy
    .replace('  children:', inEach.join('\n'))
    .replace(
      '    - id: config\n',
      '    - id: config\n      forEach: ${ reads.clusters.metadata.name }\n      cluster: ${ $item }\n      crossCluster: { selector: { matchLabels: { app: "true" } } }\n',
    );

  test('children in members pass histories with outages of members', async () => {
    const options = optionsFor(placed, { runs: 8 });
    assert.deepEqual(
      options.given.map(({ metadata }) => metadata.labels),
      [{ app: 'true' }, { app: 'true' }],
    );
    const { failure } = await fuzz(options);
    assert.equal(failure, undefined, JSON.stringify(failure));
  });

  test('a failure in a member is reproduced there', async () => {
    const blocked = healthy.replace(
      'kind: ConfigMap\n        metadata: { name: "${ metadata.name }" }',
      'kind: ConfigMap\n        metadata: { name: "${ metadata.name }", finalizers: [example.com/keep] }',
    );
    assert.notEqual(blocked, healthy);
    const options = optionsFor(
      `${blocked}  controller: { clusters: { selector: { matchLabels: { app: "true" } } } }\n`,
      { runs: 5, values: { '/spec/host': ['a'], '/spec/size': [1], '/spec/mode': ['a'] } },
    );
    assert.equal(options.place, 'member');
    const failure = await failureOf(options);
    assert.match(failure.rule, /^(?:deletion|nothing-left)$/);
    assert.match(
      (await runReproduction(options, failure)).join(),
      /Objects are left: .* in cluster "member"/,
    );
  });
});
