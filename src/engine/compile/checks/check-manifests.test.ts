import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseYamlDocuments } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { compileThing } from '../../../../test/support/thing-plan.ts';

const root = new URL('../../../../', import.meta.url).pathname;

describe('compile/check manifests', () => {
  // A real API server accepts all of them (test/integration/fitting.test.ts).
  for (const file of globSync('test/fixtures/manifests/*.yaml', { cwd: root }).sort()) {
    for (const document of parseYamlDocuments(readFileSync(root + file, 'utf8'))) {
      const { kind, metadata } = document as unknown as KubeObject;
      if (metadata.name === undefined || 'generateName' in metadata) continue;
      test(`${file}: ${kind} "${metadata.name}" has all that is required`, () => {
        const { diagnostics } = compileThing(
          `  children:\n    - id: child\n      crossNamespace: { namespaces: ['*'] }\n      template: ${JSON.stringify(document)}\n`,
        );
        const ours = diagnostics.filter(({ message }) =>
          /^The API server (?:requires|rejects)|^Each port|select its own|base64/.test(message),
        );
        assert.deepEqual(ours, []);
      });
    }
  }
});
