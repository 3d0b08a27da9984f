import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { type Readiness, readinessOf } from '#util/readiness/readiness-of.ts';

/** A test for each object of a kind (`apps/v1 Deployment`), by what is the matter with it. */
export function testReadiness(
  kind: string,
  rows: readonly (readonly [string, object, Readiness['state'], string])[],
): void {
  describe(kind, () => {
    for (const [what, fields, state, message] of rows) {
      test(`${what}: ${state}`, () => {
        assert.deepEqual(readinessOf(objectOf(kind, fields)), { state, message });
      });
    }
  });
}

function objectOf(kind: string, fields: object): KubeObject {
  const [apiVersion = '', name = ''] = kind.split(' ');
  const metadata = { name: 'x', generation: 2 };
  return { apiVersion, kind: name, metadata, ...fields } as KubeObject;
}

/** A condition, with what readiness must not repeat. */
export function condition(type: string, status: string, reason?: string): object {
  return { type, status, reason, message: 'at 12:00', lastTransitionTime: '2026-01-01T00:00:00Z' };
}

/** A status seen at the present generation. */
export function seen(
  status: object,
  conditions: readonly object[] = [],
): { readonly status: object } {
  return { status: { observedGeneration: 2, ...status, conditions } };
}
