import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useControlPlane } from '../support/control-plane/index.ts';
import { thing, thingDefinition } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import { untilStatus } from '../support/scrape.ts';

const shared = useControlPlane();
const startHomeostat = useHomeostat(shared);

/** A definition whose resources are served under that plural. */
function definition(plural: string): string {
  const text = thingDefinition(
    'named',
    `  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { of: ${plural}, size: "\${ $string(spec.size) }" }
`,
  );
  return text.replace('plural: things', `plural: ${plural}`);
}

const crdPath = (plural: string) =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.named.example.com`;

shared.describe('integration/plural-changes', () => {
  test('a kind under another plural is rejected while the first holds its name; there and back it works when that is gone', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const homeostat = await startHomeostat({ 'named.yaml': definition('things') });
    const collection = (plural: string) =>
      `/apis/named.example.com/v1/namespaces/${namespace}/${plural}`;
    const untilChild = (name: string, of: string, size: string) =>
      client.untilObject(`/api/v1/namespaces/${namespace}/configmaps/${name}`, (child) => {
        const data = child?.data as Record<string, string> | undefined;
        return data?.of === of && data.size === size;
      });
    await client.create(collection('things'), thing('named', namespace, { size: 1 }, 'first'));
    await untilChild('first', 'things', '1');

    for (const [from, to, name] of [
      ['things', 'thingies', 'second'],
      ['thingies', 'things', 'third'],
    ] as const) {
      homeostat.write('named.yaml', definition(to));
      await untilStatus(homeostat, '/readyz?verbose', 200, /named .*is already in use/);
      await client.delete(crdPath(from));
      await client.untilGone(crdPath(from));
      await untilStatus(homeostat, '/readyz?verbose', 200, /^ {2}\[\+\]named running/m);
      await client.create(collection(to), thing('named', namespace, { size: 2 }, name));
      await untilChild(name, to, '2');
      await client.patch(`${collection(to)}/${name}`, { spec: { size: 3 } });
      await untilChild(name, to, '3');
      await client.delete(`/api/v1/namespaces/${namespace}/configmaps/${name}`);
      await untilChild(name, to, '3');
    }
    assert.equal(await homeostat.stop(), 0);
  });
});
