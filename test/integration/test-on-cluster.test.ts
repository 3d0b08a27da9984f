import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createManifestCheck } from '#check';
import { bundledSchemas } from '#compile';
import { createOperatorTestParser, parseYaml } from '#definition';
import { loadKubeConfig } from '#kube';
import { RealClusterTests } from '#testing';
import { createSystemClock } from '#util/clock.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thingDefinition } from '../support/definitions.ts';
import { runIn } from '../support/dev-process.ts';
import { kubeconfigYaml } from '../support/kubeconfig-yaml.ts';

const shared = useControlPlane();

const children = `  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ spec.text }" }
`;

const head = (name: string) =>
  `apiVersion: homeostat.dev/v1alpha1\nkind: OperatorTest\nmetadata: { name: ${name} }\nspec:\n  definitions: [definition.yaml]\n  steps:\n`;
const thing = (kind: string, text: string) =>
  `{ apiVersion: ${kind}.example.com/v1, kind: Thing, metadata: { name: a }, spec: { text: ${text} } }`;
const config = (text: string) =>
  `{ object: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: { text: ${text} } } }`;

shared.describe('integration/test-on-cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-test-on-cluster-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function run(name: string, definition: string, steps: string) {
    writeFileSync(join(folder, 'definition.yaml'), definition);
    writeFileSync(join(folder, 'test.yaml'), head(name) + steps);
    const kubeconfig = shared.plane.kubeconfigPath();
    return runIn(folder, ['test', 'test.yaml', '--kubeconfig', kubeconfig]);
  }

  /** Names of the CRD of a definition and of the namespaces of tests. */
  async function leftovers(name: string): Promise<readonly string[]> {
    const client = shared.client();
    const crds = await client.list('/apis/apiextensions.k8s.io/v1/customresourcedefinitions');
    const namespaces = await client.list('/api/v1/namespaces');
    return [...crds, ...namespaces]
      .map(({ metadata }) => metadata.name)
      .filter(
        (found) => found.includes(`${name}.example.com`) || found.startsWith('homeostat-test-'),
      );
  }

  test('a test runs in a namespace of its own; what needs the sandbox is skipped, and nothing is left', async () => {
    const name = 'oncluster';
    const steps = `    - name: create
      apply: ${thing(name, 'one')}
      within: 1m
      expect: [${config('one')}, { condition: { of: Thing/a, type: Ready, status: "True" } }]
    - name: time passes
      advance: 10m
      patch: { target: Thing/a, merge: { spec: { text: two } } }
      expect: [${config('never')}]
    - name: restart
      restart: true
      within: 1m
      expect: [${config('two')}, { writes: 0 }]
    - name: delete
      delete: Thing/a
      within: 1m
      expect: [{ nothingLeft: true }]
`;
    const { code, stdout, stderr } = await run(name, thingDefinition(name, children), steps);
    assert.deepEqual([code, stderr], [0, ''], stdout);
    assert.match(
      stdout,
      /^PASS test\.yaml: oncluster \(4 steps, 1 skipped: need the sandbox; \d+\.\d s\)$/m,
    );
    assert.match(stdout, /^1 test: 1 passed, 0 failed$/m);
    assert.deepEqual(await leftovers(name), []);
  });

  test('a failure has its place, and nothing is left either', async () => {
    const name = 'onclusterfails';
    const steps = `    - name: create
      apply: ${thing(name, 'one')}
      expect: [${config('two')}]
`;
    const { code, stdout } = await run(name, thingDefinition(name, children), steps);
    assert.equal(code, 1, stdout);
    assert.match(stdout, /Step "create"\n {4}test\.yaml:9:\d+: ConfigMap "a" is not as expected/);
    assert.match(stdout, /- expected: two\n\s+\+ found: one/);
    assert.deepEqual(await leftovers(name), []);
  });

  test('a CRD that was there before is neither changed nor removed', async () => {
    const name = 'onclusterkept';
    const definition = thingDefinition(name, children);
    const client = shared.client();
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${name}.example.com` },
      spec: {
        group: `${name}.example.com`,
        scope: 'Namespaced',
        names: { kind: 'Thing', plural: 'things', singular: 'thing', listKind: 'ThingList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    };
    await client.apply(crd);
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;
    const before = await client.get(path);
    const steps = `    - name: create\n      apply: ${thing(name, 'one')}\n`;
    const { code, stdout } = await run(name, definition, steps);
    assert.equal(code, 1, stdout);
    assert.match(
      stdout,
      /The cluster has another CustomResourceDefinition "things\.onclusterkept\.example\.com"/,
    );
    const now = await client.get(path);
    assert.deepEqual([now?.metadata.uid, now?.spec], [before?.metadata.uid, before?.spec]);
    assert.deepEqual(await leftovers(name), [crd.metadata.name]);
  });

  test('a definition that the cluster has is not tested there: its operator would act, too', async () => {
    const name = 'onclusterserved';
    const definition = thingDefinition(name, children);
    const client = shared.client();
    const crd = new URL(
      '../../deploy/crds/operatordefinitions.homeostat.dev.yaml',
      import.meta.url,
    );
    await client.installCrd(parseYaml(readFileSync(crd, 'utf8')) as KubeObject);
    await client.apply(parseYaml(definition) as KubeObject);
    const steps = `    - name: create\n      apply: ${thing(name, 'one')}\n`;
    const { code, stdout } = await run(name, definition, steps);
    assert.equal(code, 1, stdout);
    assert.match(
      stdout,
      /test\.yaml:5:3: The cluster has definition "onclusterserved", .*; use a cluster without it$/m,
    );
    assert.deepEqual(await leftovers(name), []);
  });

  test('a CRD of a test is kept while it has resources of others', async () => {
    const name = 'onclustershared';
    const definition = { file: 'definition.yaml', text: thingDefinition(name, children) };
    const steps = `    - { name: create, apply: ${thing(name, 'one')} }\n`;
    const [parsed] = createOperatorTestParser().parse(head(name) + steps, 'test.yaml').tests;
    assert.ok(parsed);
    const tests = new RealClusterTests({
      config: await loadKubeConfig({
        ...kubeconfigYaml,
        kubeconfig: shared.plane.kubeconfigPath(),
      }),
      check: createManifestCheck(bundledSchemas()),
      clock: createSystemClock(),
      random: createSystemRandom(),
    });
    const { signal } = new AbortController();
    await tests.connect(signal);
    const loadDefinitions = () => Promise.resolve([definition]);
    const loadObjects = () => Promise.resolve([]);
    const files = { definitions: [definition], loadDefinitions, loadObjects };
    const { failures } = await tests.run(parsed, files, signal);
    assert.deepEqual(failures, []);
    const client = shared.client();
    const metadata = { name: 'b', namespace: 'default' };
    await client.apply({ apiVersion: `${name}.example.com/v1`, kind: 'Thing', metadata });
    await assert.rejects(tests.close(), /"things\.onclustershared\.example\.com" is kept/);
    assert.deepEqual(await leftovers(name), [`things.${name}.example.com`]);
  });

  test('a test with member clusters is skipped with the reason', async () => {
    const name = 'onclustermembers';
    const { code, stdout } = await run(
      name,
      thingDefinition(name, `${children}  controller: { clusters: { selector: all } }\n`),
      '    - { name: nothing, apply: { apiVersion: homeostat.dev/v1alpha1, kind: Cluster, metadata: { name: dev-1 } } }\n',
    );
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /^SKIP test\.yaml: onclustermembers: Definition "onclustermembers" uses member clusters, which only the sandbox has$/m,
    );
    assert.match(stdout, /1 test: 0 passed, 0 failed, 1 skipped/);
  });

  test('a test of a cluster-scoped kind is skipped with the reason', async () => {
    const name = 'onclusterwide';
    const definition = thingDefinition(name, children).replace(
      'scope: Namespaced',
      'scope: Cluster',
    );
    const steps = '    - { name: nothing }\n';
    const { code, stdout } = await run(
      name,
      definition.replace('metadata: { name: "', 'metadata: { namespace: default, name: "'),
      steps,
    );
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /^SKIP test\.yaml: onclusterwide: The resources of definition "onclusterwide" belong to no namespace$/m,
    );
    assert.match(stdout, /^1 test: 0 passed, 0 failed, 1 skipped$/m);
  });
});
