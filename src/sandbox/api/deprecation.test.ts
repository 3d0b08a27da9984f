import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestSandbox } from '../../../test/support/backends/index.ts';

describe('sandbox/api/resource-request', () => {
  for (const [path, status] of [
    ['/api/v1/namespaces/default/endpoints', 200],
    ['/api/v1/namespaces/default/endpoints/none', 404],
  ] as const)
    test(`a deprecated kind causes a warning with ${status}, too`, () => {
      const sandbox = createTestSandbox();
      const answer = sandbox.handle({ method: 'GET', path, headers: {}, body: '' });
      assert.equal(answer.status, status);
      assert.match(answer.headers.warning ?? '', /v1 Endpoints is deprecated in v1\.33\+/);
      sandbox.stop();
    });
});
