import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { digestOf, parseConversionRules, readRules } from '#conversion';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation, workingConversionsAnnotation } from '#util/stored-names.ts';
import type { ConversionTarget } from './conversion-target.ts';
import { clientConfigOf, servedIn, versionsOf } from './crd-parts.ts';
import {
  closedCrd,
  isProven,
  openedCrd,
  preparedCrd,
  provenCrd,
  triedCrd,
  withRules,
} from './staged-crd.ts';
import { isInTrial, provenIn, restoredBundle, workingConversion } from './working-conversion.ts';

const targetAt = (host: string): ConversionTarget => ({
  clientConfig: (crd, digest) => ({ url: `https://${host}/convert/${crd}/${digest}` }),
});
const rulesTo = (there: string) => {
  const { rules } = parseConversionRules({
    hub: 'v1',
    versions: [{ version: 'v1alpha1', fields: [{ here: 'spec.size', there }] }],
  });
  assert.ok(rules);
  return rules;
};
const crd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'as.a.example.com' },
  spec: {
    versions: [
      { name: 'v1alpha1', served: true, storage: false },
      { name: 'v1', served: true, storage: true },
    ],
  },
};
const [first, second, third] = ['spec.a', 'spec.b', 'spec.c'].map(rulesTo);
const here = targetAt('here');

function wholeOf(live: KubeObject | undefined, rules = first, target = here): KubeObject {
  assert.ok(rules);
  return withRules(crd, live, { rules, target });
}
const proven = provenCrd(wholeOf(undefined));
const digestsIn = ({ metadata }: KubeObject) =>
  readRules(metadata.annotations?.[conversionsAnnotation] ?? '')?.byDigest.keys() ?? [];
const digestIn = ({ metadata }: KubeObject) =>
  readRules(metadata.annotations?.[conversionsAnnotation] ?? '')?.current;

describe('runtime/crd/conversion/staged-crd', () => {
  test('rules and a webhook that worked return after others fail', () => {
    const prepared = preparedCrd(wholeOf(proven, second, targetAt('there')), proven);
    const opened = openedCrd(wholeOf(prepared, second, targetAt('there')), prepared);
    assert.notEqual(digestIn(opened), digestIn(proven));
    const closed = closedCrd(crd, opened);
    assert.equal(digestIn(closed), digestIn(proven));
    assert.deepEqual(clientConfigOf(closed), clientConfigOf(proven));
    assert.deepEqual(closed.spec, proven.spec);
    assert.equal(closed.metadata.annotations?.[workingConversionsAnnotation], undefined);
    assert.equal(isProven(wholeOf(closed), closed), true);
  });

  test('they return also after a runtime was killed while it tried others, and other ones followed', () => {
    const killed = preparedCrd(wholeOf(proven, second), proven);
    const opened = preparedCrd(wholeOf(killed, third), killed);
    const again = openedCrd(wholeOf(opened, third), opened);
    const closed = closedCrd(crd, again);
    assert.equal(digestIn(closed), first && digestOf(first));
    assert.deepEqual(clientConfigOf(closed), clientConfigOf(proven));
  });

  const versionNamed = (name: string, fields: readonly string[], isStored = false): JsonObject => {
    const properties = Object.fromEntries(fields.map((field) => [field, { type: 'string' }]));
    const schema = { openAPIV3Schema: { type: 'object', properties } };
    return { name, served: true, storage: isStored, schema };
  };
  const crdWith = (...versions: readonly JsonObject[]): KubeObject => ({
    ...crd,
    spec: { names: { kind: 'A' }, versions },
  });
  /** As the runtime writes it, step by step. */
  const opened = (edited: KubeObject, live: KubeObject) => {
    assert.ok(first);
    const whole = (from: KubeObject) => withRules(edited, from, { rules: first, target: here });
    const prepared = preparedCrd(whole(live), live);
    return openedCrd(whole(prepared), prepared);
  };

  test('schemas return with the rest, also of a kind without conversions', () => {
    const before = versionNamed('v1alpha1', ['a'], true);
    const live = crdWith(before);
    const added = versionNamed('v1', ['b']);
    const tried = opened(crdWith(versionNamed('v1alpha1', ['a', 'c'], true), added), live);
    assert.deepEqual(closedCrd(crd, tried).spec, {
      names: { kind: 'A' },
      conversion: tried.spec && (tried.spec as JsonObject).conversion,
      versions: [before, { ...added, served: false }],
    });
  });

  test('a webhook of another program, and versions that differ by name only, return', () => {
    const versions = [versionNamed('v1alpha1', ['a'], true), versionNamed('v1', ['a'])];
    const clientConfig = { url: 'https://elsewhere/convert' };
    for (const conversion of [
      { strategy: 'None' },
      { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    ]) {
      const live = { ...crd, spec: { ...(crdWith(...versions).spec as JsonObject), conversion } };
      assert.deepEqual(closedCrd(crd, opened(crdWith(...versions), live)).spec, live.spec);
    }
  });

  test('schemas that are too large to be recorded stay', () => {
    const large = Array.from({ length: 3_000 }, (_, index) => `aFieldWithALongName${index}`);
    const live = crdWith(versionNamed('v1alpha1', large, true));
    const changed = versionNamed('v1alpha1', ['a'], true);
    const tried = opened(crdWith(changed, versionNamed('v1', ['b'])), live);
    assert.equal(workingConversion(tried)?.spec, undefined);
    const { versions } = closedCrd(crd, tried).spec as { versions: readonly JsonObject[] };
    assert.deepEqual(versions, [changed, { ...versionNamed('v1', ['b']), served: false }]);
  });

  test('the certificates of another server return, those of the same one stay', () => {
    const trust = (of: KubeObject, caBundle: string): KubeObject => {
      const conversion = (of.spec as JsonObject).conversion as JsonObject;
      const webhook = conversion.webhook as JsonObject;
      const clientConfig = { ...(webhook.clientConfig as JsonObject), caBundle };
      const spec = { ...(of.spec as JsonObject) };
      return {
        ...of,
        spec: { ...spec, conversion: { ...conversion, webhook: { ...webhook, clientConfig } } },
      };
    };
    const live = trust(proven, 'old');
    for (const [host, expected] of [
      ['there', 'old'],
      ['here', undefined],
    ] as const) {
      const tried = trust(preparedCrd(wholeOf(live, second, targetAt(host)), live), 'new');
      assert.equal(restoredBundle(tried, workingConversion(tried) ?? {}), expected);
    }
  });

  test('rules of quick edits stay, so that API servers get no error that still ask for them', () => {
    const tables = Array.from({ length: 9 }, (_, index) => rulesTo(`spec.f${index}`));
    let live = proven;
    for (const table of tables) live = preparedCrd(wholeOf(live, table), live);
    const kept = [...digestsIn(live)];
    const digests = tables.map(digestOf).reverse();
    // The current ones, four previous ones, and those that worked.
    assert.deepEqual(kept, [...digests.slice(0, 5), digestIn(proven)]);
    assert.deepEqual(preparedCrd(wholeOf(live, tables.at(-1)), live), live);
    const closed = closedCrd(crd, live);
    assert.deepEqual([...digestsIn(closed)], [digestIn(proven), ...digests.slice(0, 4)]);
  });

  test('large previous rules are not kept, those that worked are', () => {
    const large = (name: string) => rulesTo(`spec.${name.repeat(40_000)}`);
    let live = proven;
    for (const table of [large('x'), large('y'), large('z')])
      live = preparedCrd(wholeOf(live, table), live);
    assert.deepEqual(
      [...digestsIn(live)],
      [digestOf(large('z')), digestOf(large('y')), digestIn(proven)],
    );
  });

  test('nothing returns when the others work', () => {
    const prepared = preparedCrd(wholeOf(proven, second), proven);
    const final = provenCrd(wholeOf(prepared, second));
    assert.equal(final.metadata.annotations?.[workingConversionsAnnotation], undefined);
    assert.equal(digestIn(closedCrd(crd, final)), second && digestOf(second));
  });

  test('a version that is closed in the same edit is served until the last step', () => {
    const old = { ...crd, spec: { versions: [{ name: 'v1alpha1', served: true, storage: true }] } };
    const edited = {
      ...crd,
      spec: {
        versions: [
          { name: 'v1alpha1', served: false, storage: false },
          { name: 'v1', served: true, storage: true },
        ],
      },
    };
    assert.ok(first);
    const whole = withRules(edited, old, { rules: first, target: here });
    const prepared = preparedCrd(whole, old);
    assert.deepEqual(servedIn(prepared), ['v1alpha1']);
    const opened = openedCrd(whole, prepared);
    assert.deepEqual(servedIn(opened), ['v1alpha1', 'v1']);
    assert.deepEqual(servedIn(closedCrd(edited, opened)), ['v1alpha1']);
    assert.deepEqual(servedIn(provenCrd(whole)), ['v1']);
    // Resources do not fit into the new storage version yet.
    const tried = triedCrd(whole, opened);
    assert.deepEqual(tried.spec, opened.spec);
    assert.deepEqual(provenIn(tried), ['v1']);
    assert.equal(isInTrial(tried), false);
    assert.equal(isProven(withRules(edited, tried, { rules: first, target: here }), tried), true);
  });

  test('a version that was tried before stays proven while another storage version has to wait', () => {
    const tried = triedCrd(wholeOf(proven), proven);
    assert.deepEqual(provenIn(tried), ['v1', 'v1alpha1']);
    const other = openedCrd(wholeOf(proven, second), proven);
    const [old] = versionsOf(crd);
    const removing = {
      ...crd,
      spec: { versions: [{ ...old, served: false }, versionsOf(crd)[1]] },
    };
    assert.ok(second);
    const whole = withRules(removing as KubeObject, other, { rules: second, target: here });
    assert.deepEqual(provenIn(triedCrd(whole, other)), ['v1']);
  });
});
