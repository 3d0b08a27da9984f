import assert from 'node:assert/strict';
import { readPair } from '#conversion-webhook/certificates/certificate.ts';
import { dataOf } from '#conversion-webhook/certificates/certificate-state.ts';
import { issueAuthority } from '#conversion-webhook/certificates/x509.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** The Secret of a converter that once ran. */
export async function certificates(namespace = 'homeostat-system'): Promise<KubeObject> {
  const nowMs = Date.now();
  const lifetime = { fromMs: nowMs - 60_000, untilMs: nowMs + 3_600_000 };
  const issued = await issueAuthority(lifetime);
  const authority = readPair(issued.certificate, issued.key);
  assert.ok(authority);
  const { key: _, ...trusted } = authority;
  const metadata = { name: 'homeostat-conversion', namespace };
  const data = dataOf({ authority, bundle: [trusted], servers: {} });
  return { apiVersion: 'v1', kind: 'Secret', metadata, data };
}
