import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { schemaBundle } from '../../scripts/generate-schema-bundle.ts';
import { useControlPlane } from '../support/control-plane/index.ts';

const shared = useControlPlane({ controllerManager: false });
const file = new URL('../../src/compile/schema/builtin-schemas.generated.json', import.meta.url);

describe('integration/builtin-schemas', { skip: shared.skip }, () => {
  test('the bundled schemas are those of the server', async () => {
    const { provenance } = JSON.parse(readFileSync(file, 'utf8'));
    const bundle = await schemaBundle({ client: shared.client(), command: provenance.command });
    assert.ok(bundle === readFileSync(file, 'utf8'), 'Outdated: run npm run generate:schemas');
  });
});

describe('integration/builtin-schemas', () => {
  test('every kind and every reference leads to a component', () => {
    const text = readFileSync(file, 'utf8');
    const { kinds, components } = JSON.parse(text);
    for (const { root } of Object.values<{ root: string }>(kinds))
      assert.ok(components[root], root);
    for (const [, name = ''] of text.matchAll(/#\/components\/schemas\/([^"]+)/g)) {
      assert.ok(components[name], name);
    }
    assert.equal(kinds['v1/Namespace'].namespaced, false);
    assert.equal(kinds['apps/v1/Deployment'].plural, 'deployments');
    assert.equal(kinds['v1/PodList'], undefined);
  });
});
