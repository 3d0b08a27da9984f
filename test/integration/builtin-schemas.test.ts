import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { schemaBundle } from '../../scripts/generate-schema-bundle.ts';
import { newestMinor, useControlPlane } from '../support/control-plane/index.ts';

const shared = useControlPlane({ controllerManager: false });
const folder = new URL('../../src/engine/compile/schema/', import.meta.url);
const file = new URL('builtin-schemas.generated.json', folder);
const descriptionsFile = new URL('builtin-descriptions.generated.json', folder);

// Its objects are those of the newest release.
shared.describe('integration/builtin-schemas', { since: newestMinor }, () => {
  test('the bundled schemas and descriptions are those of the server', async () => {
    const { provenance } = JSON.parse(readFileSync(file, 'utf8'));
    const { schemas, descriptions } = await schemaBundle({
      client: shared.client(),
      command: provenance.command,
    });
    const outdated = 'Outdated: run npm run generate -- schemas';
    assert.ok(schemas === readFileSync(file, 'utf8'), outdated);
    assert.ok(descriptions === readFileSync(descriptionsFile, 'utf8'), outdated);
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
