import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSystemRandom } from '#util/random.ts';
import { sandboxSchemas } from '../../../test/support/backends/sandbox-schemas.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { createSandbox } from '../sandbox.ts';
import type { Descriptions } from './openapi.ts';

const service = 'io.k8s.api.core.v1.Service';
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** A sandbox that counts how often its descriptions are loaded. */
function countingSandbox(descriptions?: Descriptions) {
  const count = { loads: 0 };
  const loadDescriptions = async () => {
    count.loads++;
    return descriptions ?? {};
  };
  const sandbox = createSandbox({
    clock: new FakeClock(),
    random: createSystemRandom(),
    schemas: sandboxSchemas(),
    kubernetesVersion: 'v1.36.3',
    controllers: false,
    ...(descriptions === undefined ? {} : { loadDescriptions }),
    onInternalError(error) {
      throw error;
    },
  });
  const schemas = async (path: string, accept = 'application/json') => {
    const { body } = sandbox.handle({ method: 'GET', path, headers: { accept }, body: '' });
    let text = '';
    for await (const piece of typeof body === 'string' ? [body] : body) text += piece;
    return JSON.parse(text).components.schemas;
  };
  return { sandbox, count, schemas };
}

const reported: Descriptions = {
  [service]: {
    description: 'A service.',
    properties: { spec: 'The desired state.', gone: 'Does not exist.' },
  },
  [meta]: { properties: { name: 'The name.' } },
};

describe('sandbox/discovery/openapi', () => {
  for (const [accept, type, start] of [
    ['application/json', 'application/json', '{"swagger":"2.0"'],
    [
      'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
      'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
      '\n\u00032.0',
    ],
  ] as const) {
    test(`version 2 describes no kinds, so that kubectl leaves the validation of lists to the server: ${type}`, () => {
      const { sandbox } = countingSandbox();
      const path = '/openapi/v2?timeout=32s';
      const answer = sandbox.handle({ method: 'GET', path, headers: { accept }, body: '' });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['content-type'], type);
      assert.ok(String(answer.body).startsWith(start));
    });
  }

  test('a document has the descriptions of its components and unchanged schemas', async () => {
    const { schemas } = countingSandbox(reported);
    const described = await schemas('/openapi/v3/api/v1');
    const { description, properties } = described[service];
    assert.equal(description, 'A service.');
    assert.deepEqual(properties.spec, {
      description: 'The desired state.',
      ...sandboxSchemas().components[service]?.properties?.spec,
    });
    assert.equal(properties.gone, undefined);
    assert.equal(described[meta].properties.name.description, 'The name.');
    assert.equal(described[meta].properties.labels.description, undefined);
  });

  test('loads no descriptions for a client that wants none', async () => {
    const { schemas, count } = countingSandbox(reported);
    const bare = await schemas(
      '/openapi/v3/api/v1',
      'application/json;descriptions=none, application/json',
    );
    assert.deepEqual(bare[service], sandboxSchemas().components[service]);
    assert.equal(count.loads, 0);
    await schemas('/openapi/v3/api/v1');
    assert.equal(count.loads, 1);
  });

  test('the index needs no descriptions; without them, documents have the schemas', async () => {
    const { sandbox, count } = countingSandbox(reported);
    sandbox.handle({ method: 'GET', path: '/openapi/v3', headers: {}, body: '' });
    assert.equal(count.loads, 0);
    const { schemas } = countingSandbox();
    assert.equal((await schemas('/openapi/v3/api/v1'))[service].description, undefined);
  });
});
