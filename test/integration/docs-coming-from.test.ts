import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { checkDefinitions } from '#check';
import { bundledSchemas } from '#compile';
import type { KubeObject } from '#util/kube-object.ts';
import { InstantKubelet, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import { isRewriting, Page, useReader } from '../support/pages/index.ts';

const folder = new URL('../../docs/coming-from/', import.meta.url).pathname;
const definitionPath = 'operators/web-app.yaml';
/** The operator of all pages. */
const definition = readFileSync(`${folder}web-app.yaml`, 'utf8');
const pages = readdirSync(folder).filter((file) => file.endsWith('.md') && file !== 'helm.md');
const isSandbox = process.env.HOMEOSTAT_TEST_BACKEND === 'sandbox';

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

/** What `homeostat validate` would print. */
function diagnosticsOf(text: string) {
  const texts = [{ file: 'web-app.yaml', text }];
  return checkDefinitions(texts, { schemas: bundledSchemas() }).diagnostics;
}

describe('integration/docs-coming-from', () => {
  for (const file of pages) {
    test(`${file} has the definition of web-app.yaml`, () => {
      const page = new Page(`coming-from/${file}`);
      const blocks = page.sections.flatMap((section) => section.blocks);
      const block = blocks.find(({ words }) => words.includes(definitionPath));
      assert.ok(block);
      const lines = definition.trimEnd().split('\n');
      if (block.lines.join('\n') !== lines.join('\n') && isRewriting())
        page.edit({ first: block.first, count: block.lines.length, lines });
      else assert.deepEqual(block.lines, lines);
      page.save();
    });
  }

  test('the definition has neither errors nor warnings', () => {
    assert.deepEqual(diagnosticsOf(definition), []);
  });

  const skip = isSandbox ? false : 'runs on the sandbox';
  describe('from a chart to a definition', { skip }, () => {
    const page = new Page('coming-from/helm.md');
    const reader = useReader();
    after(() => page.save());

    for (const section of page.sections.filter(({ title }) => /^\d/.test(title))) {
      test(`step ${section.title}`, async () => {
        page.settle(await reader.runner.run(section));
        const text = reader.runner.textOf(definitionPath);
        assert.deepEqual(diagnosticsOf(text), []);
        if (section.title.startsWith('6')) assert.equal(text, definition);
      });
    }
  });

  for (const tool of ['kro', 'crossplane', 'metacontroller'])
    describe(`conversion from ${tool}`, { skip }, () => {
      const page = new Page(`coming-from/${tool}.md`);
      const reader = useReader();
      after(() => page.save());

      for (const section of page.sections.filter(({ title }) => /^With |^Convert /.test(title)))
        test(`section ${section.title}`, async () => {
          page.settle(await reader.runner.run(section));
        });
    });

  shared.describe('the operator of all pages', () => {
    const sample: KubeObject = parse(
      new Page('coming-from/kro.md').sections
        .flatMap((section) => section.blocks)
        .find(({ words }) => words.includes('shop.yaml'))
        ?.lines.join('\n') ?? '',
    );
    let kubelet: InstantKubelet | undefined;
    before(() => startHomeostat({ 'web-app.yaml': definition }));
    after(() => kubelet?.stop());

    test('makes the objects, has the ready replicas in its status, and no Ingress without a host', async () => {
      const client = shared.client();
      const namespace = await shared.namespace();
      kubelet = new InstantKubelet(client);
      kubelet.start({ namespace });
      const resource = { ...sample, metadata: { name: 'shop', namespace } };
      await client.apply(resource);
      const path = `/apis/example.com/v1/namespaces/${namespace}/webapps/shop`;
      const isReady = (object: KubeObject | undefined, ready: number) =>
        conditionOf(object)?.status === 'True' &&
        (object?.status as { readyReplicas?: number } | undefined)?.readyReplicas === ready;
      await client.untilObject(path, (object) => isReady(object, 2));
      const ingress = `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses/shop`;
      assert.match(JSON.stringify(await client.get(ingress)), /"host":"shop\.example\.com"/);
      assert.ok(await client.get(`/api/v1/namespaces/${namespace}/services/shop`));
      await client.patch(path, { spec: { host: null, replicas: 3 } });
      await client.untilGone(ingress);
      await client.untilObject(path, (object) => isReady(object, 3));
    });
  });
});
