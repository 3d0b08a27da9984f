import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { RecordedApi } from '../../../../test/support/recorded-api.ts';
import { KubeError } from '../kube-error.ts';
import { createOpenApi } from './openapi.ts';

const never = new AbortController().signal;
const foo = gvkOf('x.example/v1', 'Foo');
const document = 'GET /openapi/v3/apis/x.example/v1';

/** A server whose document of `x.example/v1` has these kinds. */
class SchemaServer extends RecordedApi {
  hash: string | undefined = 'ABC';
  kinds: readonly string[] = ['Foo', 'Bar'];

  constructor() {
    super(({ path }) => ({
      status: 200,
      body: path === '/openapi/v3' ? this.#index() : this.#document(),
    }));
  }

  #index(): unknown {
    const serverRelativeURL = `/prefix/openapi/v3/apis/x.example/v1?hash=${this.hash}`;
    return { paths: this.hash === undefined ? {} : { 'apis/x.example/v1': { serverRelativeURL } } };
  }

  #document(): unknown {
    const components = this.kinds.map((kind) => [
      kind,
      { title: this.hash, 'x-kubernetes-group-version-kind': [{ ...foo, kind }] },
    ]);
    return { components: { schemas: Object.fromEntries(components) } };
  }
}

describe('kube/openapi', () => {
  test('reads the document of the kind, and for the same hash never again', async () => {
    const api = new SchemaServer();
    const clock = new FakeClock();
    const openApi = createOpenApi({ api, clock });
    const first = await openApi.fetchKindSchema(foo, never);
    assert.equal(first?.root, 'Foo');
    await clock.advance(60_000);
    assert.equal(await openApi.fetchKindSchema(foo, never), first);
    assert.deepEqual(api.lines, ['GET /openapi/v3', document, 'GET /openapi/v3']);
  });

  test('descriptions are nothing that it needs', async () => {
    const api = new SchemaServer();
    await createOpenApi({ api, clock: new FakeClock() }).fetchKindSchema(foo, never);
    const [, asked] = api.requests;
    assert.equal(asked?.accept, 'application/json;descriptions=none, application/json');
  });

  test('a changed hash brings the new schema', async () => {
    const api = new SchemaServer();
    const clock = new FakeClock();
    const openApi = createOpenApi({ api, clock });
    await openApi.fetchKindSchema(foo, never);
    api.hash = 'DEF';
    await clock.advance(1_000);
    const schema = await openApi.fetchKindSchema(foo, never);
    assert.equal(schema?.components.Foo?.title, 'DEF');
  });

  test('several kinds at once share the index and the document', async () => {
    const api = new SchemaServer();
    const openApi = createOpenApi({ api, clock: new FakeClock() });
    const kinds = ['Foo', 'Bar', 'Foo', 'Missing'];
    const found = await Promise.all(
      kinds.map((kind) => openApi.fetchKindSchema({ ...foo, kind }, never)),
    );
    assert.deepEqual(
      found.map((schema) => schema?.root),
      ['Foo', 'Bar', 'Foo', undefined],
    );
    assert.deepEqual(api.lines, ['GET /openapi/v3', document]);
  });

  test('a kind whose schema is not there yet is found later', async () => {
    const api = new SchemaServer();
    api.hash = undefined;
    const clock = new FakeClock();
    const openApi = createOpenApi({ api, clock });
    assert.equal(await openApi.fetchKindSchema(foo, never), undefined);
    api.hash = 'ABC';
    await clock.advance(1_000);
    assert.equal((await openApi.fetchKindSchema(foo, never))?.root, 'Foo');
  });

  test('a document that went since the index was read is no failure; others are', async () => {
    const api = new SchemaServer();
    const failWith = (code: 'kind-missing' | 'unavailable') => {
      const index = { paths: { 'apis/x.example/v1': { serverRelativeURL: '/x?hash=GHI' } } };
      api.answerBy(({ path }) => {
        if (path === '/openapi/v3') return { status: 200, body: index };
        throw new KubeError(code, 'x', { status: 404 });
      });
    };
    const openApi = createOpenApi({ api, clock: new FakeClock() });
    failWith('unavailable');
    await assert.rejects(openApi.fetchKindSchema(foo, never), { code: 'unavailable' });
    failWith('kind-missing');
    assert.equal(await openApi.fetchKindSchema(foo, never), undefined);
  });
});
