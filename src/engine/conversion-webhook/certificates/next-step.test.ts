import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CertificateState } from './certificate-state.ts';
import { type CertificateFacts, defaultTimes, leafToServe, nextStep } from './next-step.ts';

const dayMs = 24 * 3_600_000;
const nowMs = Date.parse('2026-01-01T00:00:00Z');
const certificate = (fingerprint: string, days: number) => ({
  ...{ pem: fingerprint, fingerprint, key: 'key', names: ['a.svc'] },
  ...{ fromMs: nowMs - dayMs, untilMs: nowMs + days * dayMs },
});
const old = certificate('old', 1_000);
const next = certificate('next', 1_800);
const leaf = { ...certificate('leaf', 80), issuer: 'old' };
const steady: CertificateState = { authority: old, leaf, bundle: [old], servers: {} };
const spreading: CertificateState = {
  ...steady,
  nextAuthority: next,
  bundle: [next, old],
  servers: { me: 'leaf' },
};
const newLeaf = { ...certificate('new-leaf', 90), issuer: 'next' };
const loading: CertificateState = {
  ...{ authority: next, leaf: newLeaf, bundle: [next, old] },
  servers: { me: 'new-leaf', other: 'new-leaf' },
};

function facts(changes: Partial<CertificateFacts> = {}): CertificateFacts {
  return {
    ...{ nowMs, times: defaultTimes, server: 'me', names: ['a.svc'], served: leaf },
    ...{ trusted: [], stepForMs: 0, spreadForMs: undefined },
    ...changes,
  };
}

describe('conversion-webhook/next-step', () => {
  for (const [what, state, changes, kind] of [
    ['there is no Secret', undefined, {}, 'create'],
    ['the authority has expired', { ...steady, authority: certificate('old', -1) }, {}, 'create'],
    ['nothing is due', steady, {}, 'wait'],
    ['the leaf is broken', { ...steady, leaf: undefined }, {}, 'renew-leaf'],
    [
      'a third of the life of the leaf is left',
      { ...steady, leaf: { ...leaf, untilMs: nowMs + 30 * dayMs } },
      {},
      'renew-leaf',
    ],
    ['the leaf lacks a name', steady, { names: ['b.svc'] }, 'renew-leaf'],
    [
      'the leaf ends with its authority',
      {
        ...steady,
        authority: { ...old, untilMs: leaf.untilMs - 60 * dayMs },
        leaf: { ...leaf, untilMs: leaf.untilMs - 60 * dayMs },
      },
      {},
      'begin',
    ],
    [
      'a fifth of the life of the authority is left',
      { ...steady, authority: certificate('old', 365) },
      {},
      'begin',
    ],
    ['this server is not named in a change', { ...spreading, servers: {} }, {}, 'report'],
    ['a CRD lacks the new authority', spreading, {}, 'wait'],
    ['all CRDs have had it for 9 s', spreading, { spreadForMs: 9_999 }, 'wait'],
    ['all CRDs have had it for 10 s', spreading, { spreadForMs: 10_000 }, 'switch'],
    [
      'a CRD lacks it, and the old one ends',
      {
        ...spreading,
        authority: certificate('old', 30),
        leaf: { ...leaf, untilMs: nowMs + 30 * dayMs },
      },
      { stepForMs: 10_000 },
      'switch',
    ],
    [
      'a server has not loaded the leaf',
      { ...loading, servers: { me: 'new-leaf', other: 'leaf' } },
      { served: newLeaf, stepForMs: dayMs - 1 },
      'wait',
    ],
    [
      'a server has not loaded the leaf for a day',
      { ...loading, servers: { me: 'new-leaf', other: 'leaf' } },
      { served: newLeaf, stepForMs: dayMs },
      'end',
    ],
    ['all servers loaded the leaf a moment ago', loading, { served: newLeaf }, 'wait'],
    ['all servers have loaded the leaf', loading, { served: newLeaf, stepForMs: 600_000 }, 'end'],
  ] as const)
    test(`${kind}: ${what}`, () => {
      const { leaf: found, ...rest } = (state ?? {}) as CertificateState;
      const given = state && { ...rest, ...(found && { leaf: found }) };
      assert.equal(nextStep(given, facts(changes)).kind, kind);
    });

  test('a Secret that is made anew trusts what CRDs trust, but for what has expired', () => {
    const step = nextStep(undefined, facts({ trusted: [old, certificate('gone', -1)] }));
    assert.deepEqual(step, { kind: 'create', trusted: [old] });
  });

  test('a server that has lost its authority keeps its leaf until the next one is in all bundles', () => {
    const lost = { nextAuthority: next, leaf: newLeaf, bundle: [next, old], servers: {} };
    assert.equal(leafToServe(lost, leaf, nowMs)?.fingerprint, 'leaf');
    assert.equal(leafToServe(lost, undefined, nowMs)?.fingerprint, 'new-leaf');
    assert.equal(leafToServe(lost, leaf, leaf.untilMs)?.fingerprint, 'new-leaf');
    assert.equal(leafToServe(loading, leaf, nowMs)?.fingerprint, 'new-leaf');
    assert.equal(leafToServe({ ...lost, bundle: [next] }, leaf, nowMs)?.fingerprint, 'new-leaf');
  });
});
